import { describe, expect, it } from "vitest"
import { createKeyDecoder } from "./keys.js"

function read(...chunks: string[]): string[] {
  const decoder = createKeyDecoder()
  const keys = [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.flush()]
  return keys.map(({ id, text }) => (text === "" ? id : `${id}:${text}`))
}

describe("keys", () => {
  it("tells Enter from the text before it in the same chunk", () => {
    expect(read("hey\r")).toEqual(["text:hey", "enter"])
    expect(read("a\rb\n")).toEqual(["text:a", "enter", "text:b", "ctrl-j"])
  })

  it("names arrows, their modifiers and the keys beside them", () => {
    expect(read("\u001b[A\u001bOB\u001b[1;5D\u001b[1;3C\u001b[H\u001b[4~\u001b[3~\u001b[5~\u001b[Z")).toEqual([
      "up",
      "down",
      "ctrl-left",
      "alt-right",
      "home",
      "end",
      "delete",
      "pageup",
      "shift-tab",
    ])
  })

  it("names control keys and Alt", () => {
    expect(read("\u0003\u0017\u007f\u001f\u001b\r\u001bb\u001b\u007f")).toEqual([
      "ctrl-c",
      "ctrl-w",
      "backspace",
      "ctrl-_",
      "alt-enter",
      "alt-b",
      "alt-backspace",
    ])
  })

  it("knows Shift-Enter of terminals that tell it", () => {
    expect(read("\u001b[13;2u\u001b[27;2;13~\u001b[99;5u")).toEqual(["shift-enter", "shift-enter", "ctrl-c"])
  })

  it("takes Escape for itself only when nothing follows", () => {
    const decoder = createKeyDecoder()
    expect(decoder.push("\u001b")).toEqual([])
    expect(decoder.isWaiting).toBe(true)
    expect(decoder.push("[A")).toEqual([{ id: "up", text: "" }])
    expect(decoder.push("\u001b")).toEqual([])
    expect(decoder.flush()).toEqual([{ id: "escape", text: "" }])
    expect(decoder.isWaiting).toBe(false)
  })

  it("hands over a paste as one, with its line breaks and whatever looks like a key in it", () => {
    expect(read("x\u001b[200~a\rb\u001b[Ac\u0003", "d\u001b[201~y")).toEqual([
      "text:x",
      "paste:a\rb\u001b[Ac\u0003d",
      "text:y",
    ])
  })

  it("does not wait inside a paste, and goes on in it after a silence", () => {
    const decoder = createKeyDecoder()
    decoder.push("\u001b[200~half \u001b")
    expect(decoder.isWaiting).toBe(false)
    expect(decoder.flush()).toEqual([])
    expect(decoder.push("[201~")).toEqual([{ id: "paste", text: "half " }])
  })

  it("ignores sequences that mean nothing to it", () => {
    expect(read("\u001b[I\u001b[<0;12;5Mok\u001b[?1;2c")).toEqual(["text:ok"])
  })
})
