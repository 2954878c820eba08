import { describe, expect, it } from "vitest"
import * as editing from "./editor.js"
import { type Editor, emptyEditor } from "./editor.js"

/** `|` is the cursor. */
function show({ text, cursor }: Editor): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`
}

function at(text: string): Editor {
  const cursor = text.indexOf("|")
  return { ...emptyEditor, text: text.replace("|", ""), cursor }
}

describe("editor", () => {
  it("inserts at the cursor", () => {
    expect(show(editing.insertText(at("ab|d"), "c"))).toBe("abc|d")
  })

  it("moves over what a person sees as one character", () => {
    const family = "👨‍👩‍👧"
    const accent = "e\u0301"
    expect(show(editing.moveLeft(at(`a${family}|`)))).toBe(`a|${family}`)
    expect(show(editing.moveRight(at(`|${accent}x`)))).toBe(`${accent}|x`)
    expect(show(editing.deleteLeft(at(`a${family}|b`)))).toBe("a|b")
  })

  it("moves by words, across what lies between them", () => {
    expect(show(editing.moveWordLeft(at("one two.three |")))).toBe("one two.|three ")
    expect(show(editing.moveWordRight(at("one| two")))).toBe("one two|")
    expect(show(editing.moveWordLeft(at("один два|")))).toBe("один |два")
  })

  it("goes to the start and the end of the line it is on", () => {
    expect(show(editing.moveLineStart(at("one\ntwo|\nthree")))).toBe("one\n|two\nthree")
    expect(show(editing.moveLineEnd(at("one\n|two\nthree")))).toBe("one\ntwo|\nthree")
    expect(show(editing.moveLineStart(at("|\na")))).toBe("|\na")
  })

  it("puts back what was cut, and takes the cut back", () => {
    const cut = editing.killWordLeft(at("one two|"))
    expect(show(cut)).toBe("one |")
    expect(show(editing.yank(cut))).toBe("one two|")
    expect(show(editing.undo(cut))).toBe("one two|")
  })

  it("takes a word typed letter by letter back as one", () => {
    const typed = [..."hello"].reduce(editing.insertText, at("x |"))
    expect(show(editing.undo(typed))).toBe("x |")
  })

  it("cuts to the start and the end of the line, then the line break", () => {
    expect(show(editing.killToStart(at("one\ntwo|x")))).toBe("one\n|x")
    expect(show(editing.killToStart(at("one\n|x")))).toBe("one|x")
    expect(show(editing.killToEnd(at("o|ne\ntwo")))).toBe("o|\ntwo")
    expect(show(editing.killToEnd(at("o|\ntwo")))).toBe("o|two")
  })

  it("folds a long paste into one character, deletes it as one, and sends it whole", () => {
    const long = "line\n".repeat(200_000)
    const pasted = editing.pasteText(editing.insertText(emptyEditor, "see "), long)
    expect(pasted.text.length).toBeLessThan(10)
    expect(editing.foldLabel([...pasted.text].at(-1) as string, pasted.folds)).toBe("[pasted 200,001 lines]")
    expect(editing.fullText(pasted)).toBe(`see ${long}`)
    expect(editing.fullText(editing.deleteLeft(pasted))).toBe("see ")
    expect(editing.fullText(editing.undo(editing.deleteLeft(pasted)))).toBe(`see ${long}`)
  })

  it("keeps a short paste as text, with our line breaks and nothing a terminal would obey", () => {
    expect(editing.pasteText(emptyEditor, "a\r\nb\u001b[2J\rc").text).toBe("a\nb[2J\nc")
  })
})
