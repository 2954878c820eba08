/** The last line of the screen: which session, which model, what was kept, what changed, what it cost. */
import { cut, oneLine, plural, type Styles, textWidth, thousands } from "../../output/text.js"
import type { ChatPhase, StatusFacts } from "../state/chat-state.js"

/** Parts that don't fit are left out, the least needed first; the session's name is shortened last. */
export function renderStatus(status: StatusFacts, phase: ChatPhase, columns: number, styles: Styles): string {
  const parts: { readonly text: string; readonly rank: number }[] = [
    { text: oneLine(status.sessionName) || "new session", rank: 0 },
    ...(status.isPaused ? [{ text: "paused", rank: 1 }] : []),
    ...(phase === "elsewhere" ? [{ text: "runs in another process", rank: 1 }] : []),
    { text: oneLine(status.model) || "no model", rank: 3 },
    { text: plural(status.checkpointCount, "checkpoint"), rank: 2 },
    ...(status.changedFiles === undefined ? [] : [{ text: `${plural(status.changedFiles, "file")} changed`, rank: 4 }]),
    ...(status.inputTokens + status.outputTokens === 0
      ? []
      : [{ text: `${shortCount(status.inputTokens + status.outputTokens)} tokens`, rank: 6 }]),
    ...(status.cost === undefined ? [] : [{ text: `$${status.cost.toFixed(status.cost < 1 ? 3 : 2)}`, rank: 5 }]),
    ...(status.sessionShortId === "" ? [] : [{ text: status.sessionShortId, rank: 7 }]),
  ]
  const room = columns - 3
  const separator = " · "
  let shown = parts
  const width = () => shown.reduce((sum, { text }) => sum + textWidth(text) + separator.length, -separator.length)
  while (width() > room && shown.length > 1) {
    const least = shown.reduce((a, b) => (b.rank > a.rank ? b : a))
    const rest = width() - textWidth((shown[0] as { text: string }).text)
    if (least.rank <= 2 && rest + 12 <= room) break
    shown = shown.filter((part) => part !== least)
  }
  const over = Math.max(0, width() - room)
  return shown
    .map(({ text, rank }) => (rank === 0 ? cut(text, Math.max(1, textWidth(text) - over)) : styles.dim(text)))
    .join(styles.dim(separator))
    .replace(/^/, "  ")
}

/** `950`, `12.3k`, `1.2M`. */
function shortCount(count: number): string {
  if (count < 1_000) return thousands(count)
  return count < 999_950 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`
}
