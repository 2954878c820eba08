/** Searches text by regular expression, with a limit on the time an expression may take. */
import { createContext, Script } from "node:vm"
import { KeepupError } from "@ku0/agent-runtime-core"

export interface FoundLine {
  /** Counted from 1. */
  readonly number: number
  readonly text: string
}

/** Compiles an expression, or throws `INVALID_INPUT`. The function it returns throws when a text takes too long. */
export function compileSearch(pattern: string, ignoreCase: boolean, timeoutMs = 1_000): (text: string) => FoundLine[] {
  let expression: RegExp
  try {
    expression = new RegExp(pattern, ignoreCase ? "i" : "")
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new KeepupError("INVALID_INPUT", `The pattern can't be understood: ${message}.`, { cause })
  }
  // An expression of a model can need time beyond all measure; only code in a context of its own can be stopped.
  const context = createContext({ expression, lines: [] as string[] })
  const script = new Script("lines.flatMap((line, at) => (expression.test(line) ? [at] : []))")
  return (text) => {
    const lines = text.split(/\r?\n/)
    context["lines"] = lines
    try {
      const found = script.runInContext(context, { timeout: timeoutMs }) as number[]
      return Array.from(found, (at) => ({ number: at + 1, text: lines[at] ?? "" }))
    } catch (cause) {
      throw new KeepupError("INVALID_INPUT", "The pattern takes too long.", { cause, hint: "Use a simpler pattern." })
    }
  }
}
