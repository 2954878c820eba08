import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { firstLine, visibleName, visibleText } from "./visible-text.js"

describe("text that may be shown", () => {
  it("keeps lines and tabs of a text and shows other control characters as signs", () => {
    expect(visibleText("a\tb\nc\u001b[31m\u0007\u007f")).toBe("a\tb\nc␛[31m␇␡")
  })

  it("shows a line end in a name as a sign", () => {
    expect(visibleName("a\nb\tc")).toBe("a␊b␉c")
  })

  it("shows marks that turn the direction round, so that a name can't pretend to be another", () => {
    expect(visibleName("invoice\u202egnp.exe")).toBe("invoice⟨U+202E⟩gnp.exe")
    expect(visibleName("a\u2066b\u200fc\u200bd")).toBe("a⟨U+2066⟩b⟨U+200F⟩c⟨U+200B⟩d")
  })

  it("leaves ordinary text of any script and emoji alone", () => {
    for (const text of ["<b>bold</b>", "שלום", "日本語", "👩‍💻 ok", "naïve – “quoted”"])
      expect(visibleText(text)).toBe(text)
  })

  it("cuts the first line", () => {
    expect(firstLine("\n\n  hello\nworld")).toBe("hello")
    expect(firstLine("x".repeat(1000), 10)).toBe(`${"x".repeat(9)}…`)
  })

  it("never lets a control or direction mark through, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(visibleName(text)).not.toMatch(/\p{Cc}|[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u2028\u2029]/u)
      }),
    )
  })
})
