/** Checkpoints for people: the timeline, and under it the table `# | Msg | Event | Time`. */
import { type Checkpoint, shortId } from "@ku0/agent-runtime"
import type { Context } from "./context.js"
import { renderTable } from "./output/table.js"
import { oneLine, thousands } from "./output/text.js"
import { relativeTime } from "./output/time.js"
import { renderTimeline } from "./output/timeline.js"

/** Oldest first. */
export function renderCheckpoints(context: Context, checkpoints: readonly Checkpoint[]): string {
  const { styles, width, now } = context
  const columns = [
    { title: "#", align: "right" as const, paint: styles.cyan },
    { title: "Msg", align: "right" as const },
    { title: "Event", shrinksTo: 10 },
    { title: "Time" },
    { title: "Files", shrinksTo: 12, dispensable: 2 },
    { title: "Name", shrinksTo: 12 },
    { title: "Id", dispensable: 1, paint: styles.dim },
  ]
  const rows = checkpoints.map((checkpoint) => [
    String(checkpoint.number),
    String(checkpoint.messageIndex),
    checkpoint.trigger,
    relativeTime(checkpoint.createdAt, now),
    describeFiles(checkpoint),
    `${checkpoint.pinned ? "* " : ""}${oneLine(checkpoint.name ?? "")}`,
    shortId(checkpoint.id),
  ])
  const timeline = renderTimeline(checkpoints, Math.min(width, 120))
  const table = renderTable({ columns, rows, width, styles, separator: " | " })
  const legend = checkpoints.some(({ pinned }) => pinned) ? `\n${styles.dim("* pinned")}` : ""
  return `${timeline}\n\n${table}${legend}`
}

/** Whether it is the first of its session and of the workspace: then there is nothing to compare its files with. */
export function isFirst({ number, snapshot, metadata }: Checkpoint): boolean {
  const shadow = metadata["shadowCheckpoint"] as { base?: unknown } | undefined
  return number === 1 && snapshot !== null && shadow?.base === null
}

/** `3 +40 -2`, `same`, `all` or how many if that is known, or what is wrong with them. */
export function describeFiles(checkpoint: Checkpoint, count?: number): string {
  const { snapshot, metadata } = checkpoint
  if (snapshot === null) return metadata["snapshotError"] === undefined ? "not kept" : "failed"
  const { filesChanged, insertions, deletions, skipped } = snapshot
  const lines = [...(insertions > 0 ? [`+${insertions}`] : []), ...(deletions > 0 ? [`-${deletions}`] : [])]
  const missing = skipped.length > 0 ? ` (${skipped.length} skipped)` : ""
  const none = !isFirst(checkpoint) ? "same" : count === undefined ? "all" : `${thousands(count)} in all`
  return filesChanged === 0 ? `${none}${missing}` : `${[filesChanged, ...lines].join(" ")}${missing}`
}
