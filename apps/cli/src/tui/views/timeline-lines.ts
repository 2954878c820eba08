/** The timeline to walk through: checkpoints with their branches, beside them (below, where it is narrow) what changed since. */
import { cut, oneLine, pad, type Styles, textWidth } from "../../output/text.js"
import { relativeTime } from "../../output/time.js"
import { renderPatch } from "../render/patch.js"
import type { DiffPreview, TimelineOverlay, TimelineRow } from "../state/overlay.js"
import { plainLines } from "./item-lines.js"
import type { Look } from "./look.js"

/** From this width on the preview stands beside the list. */
const besideFrom = 76

export function renderTimelineOverlay(overlay: TimelineOverlay, look: Look, isChoosing: boolean): string[] {
  const { columns, rows, styles } = look
  const height = Math.max(6, rows - 1)
  const title = styles.bold("Timeline")
  const keys = renderKeys(isChoosing, overlay, columns, styles)
  if (overlay.rows.length === 0) return [title, "", "No checkpoints yet.", "", keys]
  const room = height - 4
  const body = columns >= besideFrom ? joinColumns(overlay, look, room) : stackParts(overlay, look, room)
  return [title, "", ...body, "", keys]
}

function joinColumns(overlay: TimelineOverlay, look: Look, room: number): string[] {
  const { columns, styles } = look
  const left = Math.min(52, Math.floor(columns * 0.5))
  const right = columns - left - 4
  const list = renderRows(overlay, look, left, room)
  const preview = renderPreview(overlay.preview, right, room, styles)
  const count = Math.max(list.length, preview.length)
  return Array.from({ length: count }, (_, at) =>
    `${pad(list[at] ?? "", left)} ${styles.dim("│")} ${preview[at] ?? ""}`.trimEnd(),
  )
}

function stackParts(overlay: TimelineOverlay, look: Look, room: number): string[] {
  const { columns, styles } = look
  const top = Math.max(2, Math.ceil(room / 2))
  const list = renderRows(overlay, look, columns - 1, top)
  const left = room - list.length - 1
  if (left < 2) return list
  return [
    ...list,
    styles.dim("─".repeat(Math.min(24, columns - 1))),
    ...renderPreview(overlay.preview, columns - 1, left, styles),
  ]
}

/** A window of the rows around the selected one; a session's name stands above its first row. */
function renderRows({ rows, selected }: TimelineOverlay, look: Look, width: number, room: number): string[] {
  const lines: { readonly text: string; readonly row: number }[] = []
  rows.forEach((row, at) => {
    if (row.isFirstOfSession) lines.push({ text: renderSession(row, width, look.styles), row: at })
    lines.push({ text: renderRow(row, at === selected, look, width), row: at })
  })
  const at = lines.findLastIndex(({ row }) => row === selected)
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), lines.length - room))
  return lines.slice(from, from + room).map(({ text }) => text)
}

function renderSession({ depth, sessionName, isOwn }: TimelineRow, width: number, styles: Styles): string {
  const lead = `${"  ".repeat(Math.min(depth, 6))}${depth > 0 ? "└ " : ""}`
  const name = cut(`${lead}${oneLine(sessionName)}${isOwn ? " (this one)" : ""}`, width)
  return isOwn ? name : styles.dim(name)
}

function renderRow(row: TimelineRow, isSelected: boolean, look: Look, width: number): string {
  const { styles } = look
  const lead = "  ".repeat(Math.min(row.depth, 6) + 1)
  const number = `${isSelected ? "> " : "  "}${lead.slice(2)}#${row.number}`
  const facts = [
    `${row.isPinned ? "* " : ""}${row.name === null ? oneLine(row.trigger) : oneLine(row.name)}`,
    relativeTime(row.createdAt, look.now()),
    row.files,
  ]
  let text = ""
  for (const count of [3, 2, 1]) {
    text = `${pad(number, 6)} ${facts.slice(0, count).join("  ")}`
    if (textWidth(text) <= width) break
  }
  const shown = cut(text, width)
  return isSelected ? styles.cyan(styles.bold(shown)) : shown
}

function renderPreview(preview: DiffPreview, width: number, room: number, styles: Styles): string[] {
  if (preview.status === "loading") return [styles.dim("Comparing…")]
  const stat = plainLines(preview.stat.trimEnd(), width)
  if (preview.status === "failed") return stat.slice(0, room).map((line) => styles.red(line))
  const patch = preview.patch === "" ? [] : ["", ...renderPatch(preview.patch, width, styles.isOn)]
  const lines = [...stat, ...patch]
  if (lines.length <= room) return lines
  return [...lines.slice(0, room - 1), styles.dim(cut(`… ${lines.length - room + 1} more lines`, width))]
}

function renderKeys(isChoosing: boolean, { rows, selected }: TimelineOverlay, columns: number, styles: Styles): string {
  const row = rows[selected]
  if (isChoosing && row !== undefined) {
    const text = `Checkpoint #${row.number}:  r restore here   w rewind into a new session   Esc back`
    const short = `#${row.number}: r restore  w rewind  Esc back`
    return styles.bold(cut(text.length < columns ? text : short, columns - 1))
  }
  const text = "up/down choose   Enter restore or rewind   u undo   Esc leave"
  const short = "up/down  Enter go back  u undo  Esc"
  return styles.dim(cut(text.length < columns ? text : short, columns - 1))
}
