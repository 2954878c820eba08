/**
 * Standard output as Ink gets it. Ink clears the whole terminal, with all that was printed, when it draws as many rows as
 * there are; here it never believes so: what it draws is kept lower. And when the terminal gets narrower, the rows that
 * its lines were broken into are erased too.
 */
import { textWidth } from "../../output/text.js"

const eraseRow = "\u001b[2K\u001b[1A"
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are control sequences
const sequences = /\u001b\[[0-?]*[ -/]*[@-~]/g

export interface ScreenOutput {
  readonly stream: NodeJS.WriteStream
  close(): void
}

export function openScreenOutput(stdout: NodeJS.WriteStream): ScreenOutput {
  let frame: readonly number[] = []
  let columns = stdout.columns

  function write(...args: Parameters<NodeJS.WriteStream["write"]>): boolean {
    const text = String(args[0]).replace(sequences, "")
    if (text.trim() !== "") frame = text.replace(/\n$/, "").split("\n").map(textWidth)
    return stdout.write(...args)
  }

  function onResize(): void {
    const { columns: now } = stdout
    if (now < columns) {
      const extra = frame.reduce((sum, width) => sum + Math.max(0, Math.ceil(width / now) - 1), 0)
      stdout.write(eraseRow.repeat(Math.min(extra, stdout.rows)))
    }
    columns = now
  }

  stdout.prependListener("resize", onResize)
  const stream = new Proxy(stdout, {
    get(target, name) {
      if (name === "rows") return Number.POSITIVE_INFINITY
      if (name === "write") return write
      const value = Reflect.get(target, name, target)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
  return {
    stream,
    close() {
      stdout.off("resize", onResize)
    },
  }
}
