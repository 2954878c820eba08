/** What lies over the conversation for a while, as lines no wider and no higher than the screen. */
import { cut, oneLine, pad, plural, textWidth } from "../../output/text.js"
import { relativeTime } from "../../output/time.js"
import { renderPatch, renderPlain } from "../render/patch.js"
import type {
  ConfirmOverlay,
  HelpOverlay,
  HelpRow,
  SessionRow,
  SessionsOverlay,
  TextOverlay,
} from "../state/overlay.js"
import { cutColoured, keepColours } from "./item-lines.js"
import type { Look } from "./look.js"

export interface Scrolled {
  readonly lines: readonly string[]
  readonly furthest: number
}

export function renderSessions({ rows, selected }: SessionsOverlay, look: Look): string[] {
  const { columns, styles } = look
  const room = Math.max(2, look.rows - 5)
  const keys = styles.dim(cut("up/down choose   Enter resume   Esc leave", columns - 1))
  if (rows.length === 0) return [styles.bold("Sessions"), "", "No sessions in this workspace yet.", "", keys]
  const from = Math.max(0, Math.min(selected - Math.floor(room / 2), rows.length - room))
  const lines = rows.slice(from, from + room).map((row, at) => renderSessionRow(row, from + at === selected, look))
  return [styles.bold("Sessions"), "", ...lines, "", keys]
}

function renderSessionRow(row: SessionRow, isSelected: boolean, look: Look): string {
  const { styles } = look
  const width = look.columns - 1
  const origin = row.fromCheckpoint === undefined ? "" : `└ from #${row.fromCheckpoint}  `
  const lead = `${isSelected ? "> " : "  "}${"  ".repeat(Math.min(row.depth, 6))}${origin}${row.shortId}  `
  const facts = [
    row.isOwn ? "this one" : row.status,
    relativeTime(row.updatedAt, look.now()),
    plural(row.messageCount, "message"),
    plural(row.checkpointCount, "checkpoint"),
  ]
  const name = oneLine(row.name)
  let text = ""
  for (const count of [4, 2, 1]) {
    const tail = `  (${facts.slice(0, count).join(", ")})`
    const room = width - textWidth(lead) - textWidth(tail)
    text = `${lead}${cut(name, Math.max(6, room))}${tail}`
    if (room >= Math.min(textWidth(name), 20)) break
  }
  const shown = cut(text, width)
  return isSelected ? styles.cyan(styles.bold(shown)) : shown
}

export function renderHelp({ commands, keys }: HelpOverlay, look: Look, scroll: number): Scrolled {
  const { columns, styles } = look
  const usage = Math.min(
    24,
    Math.max(...[...commands, ...keys].map((row) => textWidth(row.usage)), 8),
    Math.floor(columns / 2),
  )
  const table = (rows: readonly HelpRow[]) =>
    rows.map(
      (row) =>
        `  ${styles.cyan(pad(cut(row.usage, usage), usage))}  ${cut(row.summary, Math.max(6, columns - usage - 5))}`,
    )
  const lines = [styles.bold("Commands"), ...table(commands), "", styles.bold("Keys"), ...table(keys)]
  return scrollLines(lines, look, scroll)
}

export function renderText(overlay: TextOverlay, look: Look, scroll: number): Scrolled {
  const { lines: shown, furthest } = scrollLines(linesOf(overlay, look), { ...look, rows: look.rows - 2 }, scroll)
  return { lines: [look.styles.bold(cut(oneLine(overlay.title), look.columns - 1)), "", ...shown], furthest }
}

const broken = new WeakMap<TextOverlay, { readonly width: number; readonly lines: readonly string[] }>()

/** A long text is broken into lines once for a width, not at every key. */
function linesOf(overlay: TextOverlay, { columns, styles }: Look): readonly string[] {
  const width = columns - 1
  const known = broken.get(overlay)
  if (known?.width === width) return known.lines
  const { text, format } = overlay
  const lines = format === "patch" ? renderPatch(text, width, styles.isOn) : renderPlain(text, width)
  broken.set(overlay, { width, lines })
  return lines
}

export function renderConfirm({ question, plan }: ConfirmOverlay, look: Look, scroll: number): Scrolled {
  const { styles, columns } = look
  const body = keepColours(plan).map((line) => cutColoured(line, columns - 1))
  const { lines, furthest } = scrollLines(body, { ...look, rows: look.rows - 2 }, scroll, "")
  const keys = `${styles.cyan(styles.bold("y"))} yes   ${styles.cyan(styles.bold("n"))} no ${styles.dim("(Esc)")}`
  return {
    lines: [...lines, "", `${styles.bold(cut(oneLine(question), Math.max(8, columns - 24)))}  ${keys}`],
    furthest,
  }
}

/** A window of the lines, and under it how far one is. */
function scrollLines(
  lines: readonly string[],
  { rows, columns, styles }: Look,
  scroll: number,
  leave = "Esc leaves",
): Scrolled {
  const room = Math.max(2, rows - 3)
  const furthest = Math.max(0, lines.length - room)
  const from = Math.min(scroll, furthest)
  const shown = lines.slice(from, from + room)
  const place =
    furthest === 0 ? leave : `lines ${from + 1}-${from + shown.length} of ${lines.length}, up and down scroll`
  const foot = furthest > 0 && leave !== "" ? `${place}, ${leave}` : place
  return { lines: foot === "" ? shown : [...shown, "", styles.dim(cut(foot, columns - 1))], furthest }
}
