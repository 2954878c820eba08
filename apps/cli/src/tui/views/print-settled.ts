/** What is printed once, above the rest, and then forgotten: each item with a space before it where a new thought begins. */
import { type Styles, thousands } from "../../output/text.js"
import type { ChatItem } from "../state/chat-item.js"
import { type ChatState, settledFrom } from "../state/chat-state.js"
import { renderItem } from "./item-lines.js"

export interface SettledPrinter {
  /** The text of everything that settled since the last call; empty if nothing did. */
  take(state: ChatState, columns: number, styles: Styles): string
}

export function createSettledPrinter(): SettledPrinter {
  let printed = 0
  let last: ChatItem | undefined
  let fence = ""
  return {
    take(state, columns, styles) {
      const from = settledFrom(state)
      const items = state.settled.slice(Math.max(0, printed - from))
      const lines =
        from > printed ? [styles.dim(`  … ${thousands(from - printed)} earlier ones are in the log`), ""] : []
      printed = state.settledCount
      for (const item of items) {
        if (needsSpace(last, item)) lines.push("")
        const whole = continueFence(item, fence)
        lines.push(...renderItem(whole, columns, styles))
        fence = whole.kind === "assistant" ? findOpenFence(whole.text) : ""
        last = item
      }
      return lines.length === 0 ? "" : `${lines.join("\n")}\n`
    },
  }
}

/** Calls stand close together, and a checkpoint close to what it was taken of. */
export function needsSpace(before: ChatItem | undefined, item: ChatItem): boolean {
  if (before === undefined) return false
  if (item.kind === "assistant" && item.isContinued) return before.kind === "assistant" && /\n\s*\n$/.test(before.text)
  if (item.kind === "tool" || item.kind === "checkpoint") {
    return before.kind !== "tool" && before.kind !== "checkpoint"
  }
  return true
}

/** The code block that the last part of an answer was cut in: the next part goes on in it. Empty if in none. */
export function openFenceAfter(settled: readonly ChatItem[]): string {
  const start = settled.findLastIndex((item) => item.kind !== "assistant" || !item.isContinued)
  const parts = settled.slice(Math.max(0, start)).flatMap((item) => (item.kind === "assistant" ? [item.text] : []))
  return findOpenFence(parts.join(""))
}

export function continueFence(item: ChatItem, fence: string): ChatItem {
  return item.kind === "assistant" && item.isContinued && fence !== ""
    ? { ...item, text: `${fence}\n${item.text}` }
    : item
}

function findOpenFence(text: string): string {
  let open = ""
  for (const line of text.split("\n")) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1]
    if (mark === undefined) continue
    if (open === "") open = line
    else if (line.trim().startsWith(/(```+|~~~+)/.exec(open)?.[1] as string)) open = ""
  }
  return open
}
