import { describe, expect, it } from "vitest"
import {
  bytes,
  createStyles,
  cut,
  cutName,
  manyLines,
  oneLine,
  pad,
  plural,
  shellWord,
  textWidth,
  wrap,
} from "./text.js"

describe("the width of a text", () => {
  it.each([
    ["abc", 3],
    ["日本語", 6],
    ["한국", 4],
    ["é", 1],
    ["e\u0301", 1],
    ["😀", 2],
    ["👩‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["ｗ", 2],
    ["\u001b[31mred\u001b[39m", 3],
    ["", 0],
  ])("of %j is %i", (text, width) => expect(textWidth(text)).toBe(width))

  it("decides where a text is cut and padded", () => {
    expect(cut("日本語です", 5)).toBe("日本…")
    expect(cut("日本語です", 4)).toBe("日…")
    expect(cut("src/deep/file.ts", 8, "start")).toBe("…file.ts")
    expect(cut("日".repeat(2_000_000), 5)).toBe("日日…")
    expect(cut("日".repeat(2_000_000), 5, "start")).toBe("…日日")
    expect(cut("abc", 3)).toBe("abc")
    expect(cut("abc", 0)).toBe("")
    expect(pad("日", 4)).toBe("日  ")
    expect(pad("7", 3, "right")).toBe("  7")
  })
})

it("makes visible what a terminal would obey", () => {
  expect(oneLine("a\u001b[2Jb\r\n\tc\u202ed")).toBe("a\\u001b[2Jb c\\u202ed")
  expect(manyLines("a\u0007\r\n\tb")).toBe("a\\u0007\n\tb")
})

it("has colours only when they are on", () => {
  expect(createStyles(true).red("x")).toBe("\u001b[31mx\u001b[39m")
  expect(createStyles(true).red("")).toBe("")
  expect(createStyles(false).red("x")).toBe("x")
})

it("counts as people do", () => {
  expect(plural(1, "file")).toBe("1 file")
  expect(plural(1_200, "entry", "entries")).toBe("1,200 entries")
  expect([0, 999, 1_000, 1_536, 500_000, 5_000_000].map(bytes)).toEqual([
    "0 B",
    "999 B",
    "1.0 KB",
    "1.5 KB",
    "488 KB",
    "4.8 MB",
  ])
})

it("breaks lines at spaces", () => {
  expect(wrap("one two three four", 9, "  ")).toBe("one two\n  three\n  four")
})

it("writes a word as a shell takes it", () => {
  expect(["src/a.ts", "it's", "two words", ""].map(shellWord)).toEqual(["src/a.ts", `'it'\\''s'`, "'two words'", "''"])
})

describe("text that has to fit", () => {
  it("is broken at spaces, but not inside of a command", () => {
    expect(wrap("keep it with `keepup checkpoint create` now", 30)).toBe("keep it with\n`keepup checkpoint create` now")
    expect(wrap("a lone ` is nothing to hold together", 20)).toBe("a lone ` is nothing\nto hold together")
    expect(wrap("short", 80)).toBe("short")
  })

  it("keeps where a session was branched off when its name is cut", () => {
    const name = "make the parser faster than it was (rewind from #12)"
    expect(cutName(name, 80)).toBe(name)
    expect(cutName(name, 36)).toBe("make the parser f… (rewind from #12)")
    expect(textWidth(cutName(name, 36))).toBe(36)
    expect(cutName(name, 12)).toBe("make the pa…")
    expect(cutName("日本語の名前 (rewind from #1)", 26)).toBe("日本語の… (rewind from #1)")
  })
})
