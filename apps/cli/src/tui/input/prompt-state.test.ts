import { describe, expect, it } from "vitest"
import { emptyEditor } from "./editor.js"
import { createPromptState, offerCompletions, type PromptState, pressInPrompt } from "./prompt-state.js"

function press(state: PromptState, ...ids: string[]): { state: PromptState; sent: string[] } {
  const sent: string[] = []
  let now = state
  for (const id of ids) {
    const key = id.startsWith("=") ? { id: "text", text: id.slice(1) } : { id, text: "" }
    const step = pressInPrompt(now, key, 40)
    now = step.state
    if (step.sent !== undefined) sent.push(step.sent)
  }
  return { state: now, sent }
}

const commands = ["/checkpoint", "/checkpoints"].map((value) => ({ value, label: value, detail: "" }))

function offered(text: string): PromptState {
  const { state } = press(createPromptState(), `=${text}`)
  const options = commands.filter(({ value }) => value.startsWith(text))
  return offerCompletions(state, { from: 0, to: text.length, options }, state.editor)
}

describe("prompt", () => {
  it("sends with Enter, empties itself, and remembers", () => {
    const { state, sent } = press(createPromptState(), "=hello ", "enter")
    expect(sent).toEqual(["hello"])
    expect(state.editor.text).toBe("")
    expect(press(state, "up").state.editor.text).toBe("hello")
  })

  it("sends nothing that is only space", () => {
    expect(press(createPromptState(), "= ", "alt-enter", "enter").sent).toEqual([])
  })

  it("breaks the line with Alt-Enter, Ctrl-J, Shift-Enter, and Enter after a backslash", () => {
    const keys = ["=a", "alt-enter", "=b", "ctrl-j", "=c", "shift-enter", "=d\\", "enter", "=e", "enter"]
    expect(press(createPromptState(), ...keys).sent).toEqual(["a\nb\nc\nd\ne"])
  })

  it("goes through the lines first, then through the history, and keeps the draft", () => {
    const start = press(createPromptState(["first", "second"]), "=one", "ctrl-j", "=two").state
    const up = press(start, "up")
    expect(up.state.editor.cursor).toBe(3)
    expect(press(up.state, "up").state.editor.text).toBe("second")
    expect(press(up.state, "up", "up").state.editor.text).toBe("first")
    expect(press(up.state, "up", "up", "up", "down", "down").state.editor.text).toBe("one\ntwo")
  })

  it("takes the chosen command with Tab or Enter, and sends one that is written out", () => {
    expect(press(offered("/check"), "tab").state.editor.text).toBe("/checkpoint")
    expect(press(offered("/check"), "down", "enter").state.editor.text).toBe("/checkpoints")
    expect(press(offered("/check"), "enter").sent).toEqual([])
    expect(press(offered("/checkpoint"), "enter").sent).toEqual(["/checkpoint"])
  })

  it("closes the list with Escape, and keeps the text", () => {
    const { state } = press(offered("/check"), "escape")
    expect(state.list).toBeUndefined()
    expect(state.editor.text).toBe("/check")
  })

  it("does not take completions that came for another text", () => {
    const { state } = press(createPromptState(), "=/che")
    const late = offerCompletions(
      state,
      { from: 0, to: 1, options: commands },
      { ...emptyEditor, text: "/", cursor: 1 },
    )
    expect(late.list).toBeUndefined()
  })

  it("leaves keys that mean nothing to it to the screen", () => {
    expect(pressInPrompt(createPromptState(), { id: "ctrl-d", text: "" }, 40).isForeign).toBe(true)
    expect(pressInPrompt(createPromptState(), { id: "ctrl-o", text: "" }, 40).isForeign).toBe(true)
  })
})
