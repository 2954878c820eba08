/** The last line of the screen: which session, which model, what was kept, what changed, what it cost. */
import { cut, oneLine, plural, type Styles, textWidth, thousands } from "../../output/text.js"
import type { ChatPhase, StatusFacts } from "../state/chat-state.js"

interface Part {
  readonly text: string
  /** The same in fewer columns, for a narrow screen. */
  readonly short?: string
  /** The highest is left out first. */
  readonly rank: number
}

/** The session's name is shortened to this before anything is left out. */
const shortestName = 14

/** The session's name is shortened first; then parts that don't fit are left out, the least needed first. */
export function renderStatus(status: StatusFacts, phase: ChatPhase, columns: number, styles: Styles): string {
  const model = oneLine(status.model)
  const tokens = shortCount(status.inputTokens + status.outputTokens)
  const parts: readonly Part[] = [
    { text: oneLine(status.sessionName) || "new session", rank: 0 },
    ...(status.isPaused ? [{ text: "paused", rank: 1 }] : []),
    ...(phase === "elsewhere" ? [{ text: "runs in another process", rank: 1 }] : []),
    { text: model || "no model", short: model.replace(/^.*\//, "") || "no model", rank: 3 },
    {
      text: plural(status.checkpointCount, "checkpoint"),
      short: `${thousands(status.checkpointCount)} chkp.`,
      rank: 2,
    },
    ...(status.changedFiles === undefined
      ? []
      : [
          {
            text: `${plural(status.changedFiles, "file")} changed`,
            short: plural(status.changedFiles, "file"),
            rank: 4,
          },
        ]),
    ...(status.inputTokens + status.outputTokens === 0
      ? []
      : [{ text: `${tokens} tokens`, short: `${tokens} tok.`, rank: 6 }]),
    ...(status.cost === undefined ? [] : [{ text: `$${status.cost.toFixed(status.cost < 1 ? 3 : 2)}`, rank: 5 }]),
    ...(status.sessionShortId === "" ? [] : [{ text: status.sessionShortId, rank: 7 }]),
  ]
  const room = columns - 3
  const separator = " · "
  const [name, ...others] = parts as [Part, ...Part[]]
  let shown = others
  const widthOf = (some: readonly Part[]) => some.reduce((sum, { text }) => sum + textWidth(text) + separator.length, 0)
  const least = Math.min(textWidth(name.text), shortestName)
  // the id is in the list of sessions too: it is no reason to write shorter
  const needed = others.filter(({ rank }) => rank < 7)
  if (least + widthOf(needed) > room) shown = others.map((part) => ({ ...part, text: part.short ?? part.text }))
  while (shown.length > 0 && least + widthOf(shown) > room) {
    const dropped = shown.reduce((a, b) => (b.rank > a.rank ? b : a))
    shown = shown.filter((part) => part !== dropped)
  }
  const title = cut(name.text, Math.max(1, room - widthOf(shown)))
  return `  ${[title, ...shown.map(({ text }) => styles.dim(text))].join(styles.dim(separator))}`
}

/** `950`, `12.3k`, `1.2M`. */
function shortCount(count: number): string {
  if (count < 1_000) return thousands(count)
  return count < 999_950 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`
}
