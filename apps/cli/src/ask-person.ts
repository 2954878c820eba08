/** Questions while an agent works: may this call run, and what became of a call that was cut off. */
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type InDoubtCall,
  type InDoubtChoice,
  KeepupError,
} from "@ku0/agent-runtime"
import type { Context } from "./context.js"
import type { RunView } from "./output/run-view.js"
import { cut, oneLine } from "./output/text.js"

const alwaysAllowed = new WeakMap<Context, Set<string>>()

export async function askApproval(context: Context, view: RunView, call: ApprovalRequest): Promise<ApprovalAnswer> {
  const always = alwaysAllowed.get(context) ?? new Set<string>()
  alwaysAllowed.set(context, always)
  if (always.has(call.name)) return { isAllowed: true }
  view.pause()
  context.progress.clear()
  const what = cut(`${call.name} ${oneLine(JSON.stringify(call.arguments))}`, 300)
  const answer = await context.machine.ask(`Allow ${what}? [y]es, [n]o, [a]lways ${call.name}: `, context.signal)
  const word = (answer ?? "").trim().toLowerCase()
  if (word === "a" || word === "always") always.add(call.name)
  return /^(y|yes|a|always)$/.test(word) ? { isAllowed: true } : { isAllowed: false, reason: "the user said no" }
}

const choices: Readonly<Record<string, InDoubtChoice>> = { s: "skip", r: "retry", d: "done", q: "stop", "": "stop" }

export async function askInDoubt(context: Context, call: InDoubtCall): Promise<InDoubtChoice> {
  context.warn(`This call was in flight when the process died: ${call.name} ${oneLine(JSON.stringify(call.arguments))}`)
  context.warn(oneLine(call.known.summary))
  for (;;) {
    const answer = await context.machine.ask("[s]kip it, [r]etry it, it is [d]one, or [q]uit: ", context.signal)
    if (answer === undefined) throw new KeepupError("CANCELLED", "Nothing was decided.")
    const choice = choices[answer.trim().toLowerCase().slice(0, 1)]
    if (choice !== undefined) return choice
  }
}
