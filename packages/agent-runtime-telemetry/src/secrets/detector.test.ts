import { describe, expect, it } from "vitest"
import { skipEscape } from "./detector.js"

describe("skipEscape", () => {
  it.each([
    ["at the letter of an escape", String.raw`a\nb`, 2, 3],
    ["after an escape", String.raw`a\nb`, 3, 3],
    ["at the letter of a unicode escape", String.raw`\u001bx`, 1, 6],
    ["within a unicode escape", String.raw`\u001bx`, 4, 6],
    ["after an escaped backslash", String.raw`a\\nb`, 3, 3],
    ["after three backslashes", String.raw`\\\nb`, 3, 4],
    ["at a u that begins no unicode escape", String.raw`\users`, 1, 2],
    ["at the start of a text", "abc", 0, 0],
  ])("stands right %s", (_, text, index, expected) => {
    expect(skipEscape(text, index)).toBe(expected)
  })
})
