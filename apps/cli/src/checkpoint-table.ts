/** Checkpoints for people: the timeline, and under it the table `# | Msg | Event | Time`. */
import { type Checkpoint, shortId } from "@ku0/agent-runtime"
import type { Context } from "./context.js"
import { renderTable } from "./output/table.js"
import { oneLine } from "./output/text.js"
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
  return `${timeline}\n\n${renderTable({ columns, rows, width, styles, separator: " | " })}`
}

/** `3 +40 -2`, `none`, or what is wrong with them. */
export function describeFiles({ snapshot, metadata }: Checkpoint): string {
  if (snapshot === null) return metadata["snapshotError"] === undefined ? "not kept" : "failed"
  const { filesChanged, insertions, deletions, skipped } = snapshot
  const lines = [...(insertions > 0 ? [`+${insertions}`] : []), ...(deletions > 0 ? [`-${deletions}`] : [])]
  const missing = skipped.length > 0 ? ` (${skipped.length} skipped)` : ""
  return filesChanged === 0 ? `same${missing}` : `${[filesChanged, ...lines].join(" ")}${missing}`
}
