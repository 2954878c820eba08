import fc from "fast-check"
import { expect, it } from "vitest"
import { textWidth } from "../../output/text.js"
import * as editing from "./editor.js"
import { type Editor, emptyEditor } from "./editor.js"
import { splitGraphemes } from "./graphemes.js"
import { layOut } from "./layout.js"
import { createPromptState, pressInPrompt } from "./prompt-state.js"

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("\n", "👨‍👩‍👧", "e", "\u0301", "\u200d", "漢字", "🇩🇪", "x".repeat(1_200), "a b  c", "\t"),
)
const change = fc.oneof(
  text.map((typed) => (editor: Editor) => editing.insertText(editor, typed)),
  text.map((pasted) => (editor: Editor) => editing.pasteText(editor, pasted)),
  fc.constantFrom(
    editing.insertNewline,
    editing.moveLeft,
    editing.moveRight,
    editing.moveWordLeft,
    editing.moveWordRight,
    editing.moveLineStart,
    editing.moveLineEnd,
    editing.deleteLeft,
    editing.deleteRight,
    editing.killWordLeft,
    editing.killWordRight,
    editing.killToStart,
    editing.killToEnd,
    editing.yank,
    editing.undo,
  ),
)
const editor = fc
  .array(change, { maxLength: 30 })
  .map((changes) => changes.reduce((now, step) => step(now), emptyEditor))

it("the cursor always stands on the border of a character", () => {
  fc.assert(
    fc.property(editor, ({ text: written, cursor }) => {
      const borders = new Set([0])
      let at = 0
      for (const character of splitGraphemes(written)) {
        at += character.length
        borders.add(at)
      }
      expect(borders).toContain(cursor)
    }),
  )
})

it("a change and its undo give the text and the cursor from before", () => {
  const cuts = fc.constantFrom(editing.killWordLeft, editing.killToEnd, editing.killToStart, editing.deleteLeft)
  fc.assert(
    fc.property(editor, cuts, (before, cut) => {
      const after = editing.undo(cut(before))
      if (cut(before) !== before) expect([after.text, after.cursor]).toEqual([before.text, before.cursor])
    }),
  )
})

it("rows are never wider than the prompt, hold every character once, and the cursor is in one of them", () => {
  fc.assert(
    fc.property(editor, fc.integer({ min: 4, max: 60 }), (now, width) => {
      const { rows, cursorRow, cursorColumn } = layOut(now, width)
      for (const { cells } of rows) {
        const wide = textWidth(cells.map(({ shown }) => shown).join(""))
        expect(cells.reduce((sum, cell) => sum + cell.width, 0)).toBeLessThanOrEqual(width)
        expect(wide).toBeLessThanOrEqual(width)
      }
      const places = rows.flatMap(({ cells }) => cells.map(({ at }) => at))
      expect(places).toEqual([...new Set(places)].sort((a, b) => a - b))
      expect(rows[cursorRow]).toBeDefined()
      expect(cursorColumn).toBeLessThanOrEqual(width)
    }),
  )
})

it("the draft comes back after going through the history", () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 5 }), fc.string(), (sent, draft) => {
      let state = { ...createPromptState(sent), editor: editing.setText(emptyEditor, draft.replaceAll("\n", " ")) }
      const before = state.editor.text
      for (let step = 0; step < 40; step++) state = pressInPrompt(state, { id: "up", text: "" }, 40).state
      expect(state.history.at).toBe(0)
      for (let step = 0; step < 80; step++) state = pressInPrompt(state, { id: "down", text: "" }, 40).state
      expect(state.editor.text).toBe(before)
    }),
  )
})
