/** Colours are the terminal's own, and none of them vanishes on white or on black. */
import { expect, it } from "vitest"
import { paintSpans, type Style } from "../tui/render/spans.js"
import { createStyles } from "./text.js"

it("uses no white, no black and no yellow, and leaves the background alone", () => {
  const { isOn, ...styles } = createStyles(true)
  expect(isOn).toBe(true)
  const codes = Object.values(styles).map((paint) => /\[(\d+)m/.exec(paint("x"))?.[1])
  expect(codes.toSorted()).toEqual(["1", "2", "31", "32", "35", "36"])
})

it("is plain when colours are off", () => {
  const { isOn, ...styles } = createStyles(false)
  expect(isOn).toBe(false)
  expect(Object.values(styles).map((paint) => paint("x"))).toEqual(["x", "x", "x", "x", "x", "x"])
})

it("uses no others in the chat", () => {
  const styles: Readonly<Record<Style, string | undefined>> = {
    plain: undefined,
    bold: "1",
    dim: "2",
    italic: "3",
    code: "36",
    link: "4",
    strong: "1",
    added: "32",
    removed: "31",
  }
  for (const [style, code] of Object.entries(styles)) {
    expect(/\[(\d+)m/.exec(paintSpans([{ text: "x", style: style as Style }], true))?.[1], style).toBe(code)
  }
})
