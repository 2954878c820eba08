import { expect, it } from "vitest"
import { paintPatch, renderStat } from "./diff.js"
import { createStyles } from "./text.js"

const patch = Buffer.from("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@ f()\n-old\n+new \u001b[2J\n same\n")

it("leaves a patch byte for byte as it is without colours", () => {
  expect(paintPatch(patch, createStyles(false), false)).toBe(patch)
})

it("paints headers, hunks and lines, and obeys nothing in them", () => {
  const text = paintPatch(patch, createStyles(true), true) as string
  expect(text).toContain("\u001b[1m--- a/a\u001b[22m")
  expect(text).toContain("\u001b[36m@@ -1 +1 @@\u001b[39m f()")
  expect(text).toContain("\u001b[31m-old\u001b[39m\n\u001b[32m+new \\u001b[2J\u001b[39m\n same")
})

it("obeys nothing on a terminal without colours either, and shortens ids", () => {
  const ids = `index ${"a".repeat(40)}..${"b".repeat(40)} 100644`
  const text = paintPatch(
    Buffer.from(`diff --git a/a b/a\n${ids}\n@@ -1 +1 @@\n+\u001b[2J\n`),
    createStyles(false),
    true,
  )
  expect(text).toBe("diff --git a/a b/a\nindex aaaaaaa..bbbbbbb 100644\n@@ -1 +1 @@\n+\\u001b[2J\n")
})

it("sums up changes in a line each", () => {
  const change = { insertions: 0, deletions: 0, binary: false }
  expect(
    renderStat(
      [
        { ...change, path: "a.txt", status: "modified", insertions: 3, deletions: 1 },
        { ...change, path: "b.bin", status: "added", binary: true },
        { ...change, path: "new.txt", from: "old.txt", status: "renamed" },
      ],
      80,
      createStyles(false),
    ),
  ).toBe(
    [
      "M a.txt                4 +++-",
      "A b.bin              bin",
      "R old.txt => new.txt   0",
      "3 files changed, 3 lines added, 1 line removed",
    ].join("\n"),
  )
  expect(renderStat([], 80, createStyles(false))).toBe("No differences.")
})
