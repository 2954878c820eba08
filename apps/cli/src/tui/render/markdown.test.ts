import { describe, expect, it } from "vitest"
import { createMarkdownStream, renderMarkdown } from "./markdown.js"
import { renderPatch, renderPlain } from "./patch.js"

function plain(text: string, width = 40): string[] {
  return renderMarkdown(text, { width, isColoured: false })
}

describe("Markdown", () => {
  it("keeps blocks apart and wraps what is too long", () => {
    expect(plain("# Title\nSome **bold** words and `code` that go on past the end.\n\n\nNext.", 30)).toEqual([
      "# Title",
      "",
      "Some bold words and `code`",
      "that go on past the end.",
      "",
      "Next.",
    ])
  })

  it("cuts a line that is too long after a word or at a full row, and adds nothing to it", () => {
    const long = `L${"o".repeat(20_000)}ng`
    expect(plain(long, 77).join("")).toBe(long)
    const words = Array.from({ length: 2_000 }, (_, index) => `word${index}`).join(" ")
    expect(plain(words, 77).join(" ")).toBe(words)
  })

  it("hangs lists under their marks", () => {
    expect(plain("- one two three four five six\n  - nested\n10. ten", 20)).toEqual([
      "• one two three four",
      "  five six",
      "  • nested",
      "10. ten",
    ])
  })

  it("leaves code as it is, also what looks like Markdown in it", () => {
    expect(plain("```ts\nconst a = `x` // **no**\n\n# not a title\n```\nafter")).toEqual([
      "  const a = `x` // **no**",
      "",
      "  # not a title",
      "",
      "after",
    ])
  })

  it("draws tables in columns, and as lines where they don't fit", () => {
    const table = "| Name | Size |\n|---|--:|\n| a.ts | 12 |\n| 漢字 | 1,234 |"
    expect(plain(table)).toEqual(["Name │  Size", "─────┼──────", "a.ts │    12", "漢字 │ 1,234"])
    expect(plain(table, 10)).toEqual(["Name: a.ts", "Size: 12", "", "Name: 漢字", "Size:", "  1,234"])
  })

  it("shows where a link leads, quotes with a bar, and leaves half marks alone", () => {
    expect(plain("See [docs](https://a.b/c), a_b_c, 2 * 3 * 4, **open")).toEqual([
      "See docs (https://a.b/c), a_b_c, 2 * 3 *",
      "4, **open",
    ])
    expect(plain("> said\n> so")).toEqual(["│ said so"])
  })

  it("makes harmless what a terminal would obey", () => {
    expect(plain("a\u001b[2Jb \u001b]0;title\u0007c \u009b31m \u202ed \u0008e")).toEqual([
      "ab c \\u009b31m \\u202ed \\u0008e",
    ])
  })

  it("colours with the base colours only", () => {
    expect(renderMarkdown("**b** `c`", { width: 40, isColoured: true })).toEqual([
      "\u001b[1mb\u001b[22m \u001b[36mc\u001b[39m",
    ])
  })

  it("gives out each line of a long code block as soon as it is whole", () => {
    const stream = createMarkdownStream({ width: 40, isColoured: false })
    expect(stream.push("```\none\ntw")).toEqual(["  one"])
    expect(stream.tail()).toEqual(["  tw"])
    expect(stream.tail()).toEqual(["  tw"])
    expect(stream.push("o\n")).toEqual(["  two"])
  })
})

describe("diffs and output", () => {
  it("colours a diff as git does, and says the same without colours", () => {
    const patch = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@ f\n-old\n+new\n same\n"
    expect(renderPatch(patch, 40, false)).toEqual(patch.trimEnd().split("\n"))
    expect(renderPatch(patch, 40, true).slice(3)).toEqual([
      "\u001b[36m@@ -1 +1 @@ f\u001b[39m",
      "\u001b[31m-old\u001b[39m",
      "\u001b[32m+new\u001b[39m",
      " same",
    ])
  })

  it("breaks long lines, and takes colours of others out", () => {
    expect(renderPlain("\u001b[31mred\u001b[0m 12345678\rnext\n", 8)).toEqual(["red 1234", "5678", "next"])
  })
})
