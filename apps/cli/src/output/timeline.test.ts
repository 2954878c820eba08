import { type CheckpointTrigger, checkpointTriggers } from "@ku0/agent-runtime"
import { expect, it } from "vitest"
import { renderTimeline } from "./timeline.js"

const point = ([messageIndex, trigger]: [number, CheckpointTrigger]) => ({ messageIndex, trigger })

it("is exactly the one of the contract", () => {
  const points = (
    [
      [1, "run.ended"],
      [3, "phase.ended"],
      [5, "negotiation.resolved"],
      [8, "run.ended"],
      [10, "run.ended"],
    ] as [number, CheckpointTrigger][]
  ).map(point)
  expect(renderTimeline(points, 80)).toBe(
    [
      "[1] --> [3] --> [5] --> [8] --> [10]",
      " |       |       |       |       |",
      "run    phase   negot.   run     run",
      "ended  ended   resol.  ended   ended",
    ].join("\n"),
  )
})

it("goes on in the next row where the terminal ends", () => {
  const points = [1, 20, 300].map((index) => point([index, "manual"]))
  expect(renderTimeline(points, 20)).toBe("[1] --> [20] -->\n |       |\nmanual manual\n\n[300]\n |\nmanual")
  expect(renderTimeline(points, 1).split("\n\n")).toHaveLength(3)
})

it("has a label for every trigger, and none touches its neighbour", () => {
  const text = renderTimeline(
    checkpointTriggers.map((trigger) => point([1, trigger])),
    1_000,
  )
  const [, bars = "", first = "", second = ""] = text.split("\n")
  expect(bars.split("|")).toHaveLength(checkpointTriggers.length + 1)
  expect(first.trim().split(/\s+/)).toHaveLength(checkpointTriggers.length)
  expect(second).toContain("resol.")
  for (const line of text.split("\n")) expect(line).toBe(line.trimEnd())
})

it("is empty without points", () => expect(renderTimeline([], 80)).toBe(""))
