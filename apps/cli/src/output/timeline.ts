/**
 * The ASCII timeline: `[1] --> [3] --> [5]`, the message index in brackets, under it why the checkpoint was taken. It is
 * broken into rows where the terminal ends.
 */
import type { CheckpointTrigger } from "@ku0/agent-runtime"

/** A trigger in two short lines. */
const labels: Readonly<Record<CheckpointTrigger, readonly [string, string]>> = {
  "run.ended": ["run", "ended"],
  "turn.ended": ["turn", "ended"],
  "phase.ended": ["phase", "ended"],
  "negotiation.resolved": ["negot.", "resol."],
  "tool.ended": ["tool", "ended"],
  "task.completed": ["task", "compl."],
  "agent.spawned": ["agent", "spawn."],
  interval: ["auto", "saved"],
  manual: ["manual", ""],
  "before-restore": ["before", "rest."],
  "session.started": ["sess.", "start."],
  exit: ["exit", ""],
}

const arrow = " --> "

export interface TimelinePoint {
  readonly messageIndex: number
  readonly trigger: CheckpointTrigger
}

export function renderTimeline(points: readonly TimelinePoint[], width: number): string {
  const rows: TimelinePoint[][] = [[]]
  let used = 0
  for (const point of points) {
    const cell = box(point).length + arrow.length
    const row = rows.at(-1) as TimelinePoint[]
    if (row.length > 0 && used + cell > width) {
      rows.push([point])
      used = cell
    } else {
      row.push(point)
      used += cell
    }
  }
  return rows
    .filter((row) => row.length > 0)
    .map((row, index) => renderRow(row, index < rows.length - 1))
    .join("\n\n")
}

function renderRow(points: readonly TimelinePoint[], goesOn: boolean): string {
  const bars: number[] = []
  let boxes = ""
  for (const point of points) {
    if (boxes !== "") boxes += arrow
    bars.push(boxes.length + 1)
    boxes += box(point)
  }
  const words = [0, 1].map((line) => points.map(({ trigger }) => (labels[trigger] ?? [trigger, ""])[line] as string))
  return [
    goesOn ? `${boxes} -->` : boxes,
    place(bars.map((at) => ({ text: "|", at }))),
    ...words.map((texts) => place(texts.map((text, i) => ({ text, at: centre(text, bars[i] as number) })))),
  ]
    .join("\n")
    .trimEnd()
}

function box({ messageIndex }: TimelinePoint): string {
  return `[${messageIndex}]`
}

function centre(text: string, bar: number): number {
  return Math.max(0, bar - Math.floor((text.length - 1) / 2))
}

/** Writes texts at their columns, one space apart where they would touch. */
function place(texts: readonly { text: string; at: number }[]): string {
  let line = ""
  for (const { text, at } of texts) {
    if (text !== "") line = line.padEnd(line === "" ? at : Math.max(at, line.length + 1)) + text
  }
  return line
}
