/** One entry of the log as one line, or a few, for people. */
import type { Entry, Message } from "@ku0/agent-runtime"
import { cut, manyLines, oneLine, pad, type Styles } from "./text.js"
import { dateTime } from "./time.js"

const longest = 12

export function renderEntry(entry: Entry, styles: Styles, width: number): string {
  const time = styles.dim(dateTime(entry.createdAt).slice(11))
  const room = Math.max(20, width - 10)
  if (entry.type === "message:added") {
    const { message } = entry.data as { message: Message }
    const [first = "", ...rest] = shorten(manyLines(message.content).trimEnd()).split("\n")
    const calls = message.role === "assistant" ? (message.toolCalls ?? []) : []
    const lines = [
      ...(first === "" && calls.length > 0 ? [] : [cut(`${pad(message.role, 9)} ${first}`, room)]),
      ...rest.map((line) => cut(`${" ".repeat(10)}${line}`, room)),
      ...calls.map((call) =>
        cut(`${pad("calls", 9)} ${call.name} ${cut(oneLine(JSON.stringify(call.arguments ?? {})), 160)}`, room),
      ),
    ]
    const paint = message.role === "user" ? styles.bold : message.role === "tool" ? styles.dim : (text: string) => text
    return lines.map((line, index) => `${index === 0 ? time : " ".repeat(8)}  ${paint(line)}`).join("\n")
  }
  return `${time}  ${styles.cyan(cut(`${entry.type}${facts(entry)}`, room))}`
}

function shorten(text: string): string {
  const lines = text.split("\n")
  return lines.length <= longest
    ? text
    : [...lines.slice(0, longest - 1), `… ${lines.length - longest + 1} more lines`].join("\n")
}

/** What of an event's data says something in one line. */
function facts({ data }: Entry): string {
  if (typeof data !== "object" || data === null) return ""
  const words = ["number", "trigger", "name", "turn", "outcome", "phase", "reason", "path", "title", "mode"]
  const pairs = words.flatMap((key) => {
    const value = (data as Record<string, unknown>)[key]
    return typeof value === "string" || typeof value === "number" ? [`${key}=${oneLine(String(value))}`] : []
  })
  return pairs.length === 0 ? "" : `  ${pairs.join(" ")}`
}
