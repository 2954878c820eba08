import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { toSplitRows, toUnifiedRows } from "./diff-rows.js"
import { markWords } from "./mark-words.js"
import { parsePatch } from "./parse-patch.js"

const patch = [
  "diff --git a/words.mjs b/words.mjs",
  "index 1111111..2222222 100644",
  "--- a/words.mjs",
  "+++ b/words.mjs",
  "@@ -1,4 +1,5 @@ export function top() {",
  " first",
  "-second line",
  "+second lines",
  "+third",
  " --- a kept line that looks like a header",
  "-@@ -1 +1 @@",
  "\\ No newline at end of file",
  "+last",
  "",
].join("\n")

describe("a patch", () => {
  it("becomes hunks with line numbers on both sides", () => {
    const [hunk, ...more] = parsePatch(patch)
    expect(more).toEqual([])
    expect(hunk?.place).toBe("export function top() {")
    expect(hunk?.lines.map(({ kind, before, after, text }) => [kind, before, after, text])).toEqual([
      ["same", 1, 1, "first"],
      ["removed", 2, null, "second line"],
      ["added", null, 2, "second lines"],
      ["added", null, 3, "third"],
      ["same", 3, 4, "--- a kept line that looks like a header"],
      ["removed", 4, null, "@@ -1 +1 @@"],
      ["added", null, 5, "last"],
    ])
    expect(hunk?.lines[5]?.isOpenEnd).toBe(true)
  })

  it("of a new file with one line has one added line, and of a binary file none", () => {
    expect(parsePatch("@@ -0,0 +1 @@\n+only\n")[0]?.lines).toEqual([
      { kind: "added", text: "only", before: null, after: 1 },
    ])
    expect(parsePatch("Binary files a/x and b/x differ\n")).toEqual([])
  })

  it("shows each line once in one column, and each side once in two", () => {
    const hunks = parsePatch(patch)
    const lines = hunks.flatMap((hunk) => hunk.lines)
    const unified = toUnifiedRows(hunks).flatMap((row) => (row.type === "line" ? [row.line] : []))
    expect(unified).toEqual(lines)
    const pairs = toSplitRows(hunks).flatMap((row) => (row.type === "pair" ? [row] : []))
    expect(pairs.flatMap(({ left }) => left ?? [])).toEqual(lines.filter(({ kind }) => kind !== "added"))
    expect(pairs.flatMap(({ right }) => right ?? [])).toEqual(lines.filter(({ kind }) => kind !== "removed"))
    expect(pairs[1]).toMatchObject({ left: { text: "second line" }, right: { text: "second lines" } })
    expect(pairs[2]).toMatchObject({ left: null, right: { text: "third" } })
  })

  it("survives any text", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("@@ -1,2 +1,2 @@", "+a", "-b", " c", "\\ x", "", "@@")), (lines) => {
        const hunks = parsePatch(lines.join("\n"))
        toUnifiedRows(hunks)
        toSplitRows(hunks)
      }),
    )
  })
})

describe("marked words", () => {
  it("are those that differ", () => {
    expect(markWords("return count(words)", "return count(words, 10)")).toEqual([
      { text: "return count(words)", isChanged: false },
    ])
    expect(markWords("return count(words, 10)", "return count(words)")).toEqual([
      { text: "return count(words", isChanged: false },
      { text: ", 10", isChanged: true },
      { text: ")", isChanged: false },
    ])
  })

  it("are none where two lines share too little, and none for very long lines", () => {
    expect(markWords("alpha beta gamma", "one (two) three")).toHaveLength(1)
    expect(markWords("a ".repeat(5000), "b ".repeat(5000))).toHaveLength(1)
  })

  it("joined are the line again, whatever the lines", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(
          markWords(one, other)
            .map(({ text }) => text)
            .join(""),
        ).toBe(one)
      }),
    )
  })
})
