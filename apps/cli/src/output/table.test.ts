import { expect, it } from "vitest"
import { renderTable } from "./table.js"
import { createStyles, textWidth } from "./text.js"

const styles = createStyles(false)
const columns = [
  { title: "#", align: "right" as const },
  { title: "Name", shrinksTo: 4 },
  { title: "Path", shrinksTo: 6, cutStart: true },
  { title: "Id", dispensable: 1 },
]
const rows = [
  ["1", "日本語の名前", "src/deep/down/file.ts", "abcd"],
  ["12", "short", "a.ts", "ef"],
]

it("is as wide as it needs to be in a pipe", () => {
  expect(renderTable({ columns, rows, width: Number.POSITIVE_INFINITY, styles })).toBe(
    [
      " #  Name          Path                   Id",
      " 1  日本語の名前  src/deep/down/file.ts  abcd",
      "12  short         a.ts                   ef",
    ].join("\n"),
  )
})

it.each([40, 30, 24, 20])("fits %i columns: shrinks the widest, then drops what can be spared", (width) => {
  const text = renderTable({ columns, rows, width, styles, separator: " | " })
  expect(Math.max(...text.split("\n").map(textWidth))).toBeLessThanOrEqual(width)
  expect(text.includes("Id")).toBe(width > 24)
})

it("shows the end of a path", () => {
  expect(renderTable({ columns, rows, width: 30, styles })).toContain("…")
  expect(renderTable({ columns, rows, width: 30, styles })).toContain(".ts")
})
