/** Colours are the terminal's own, and none of them vanishes on white or on black. */
import { expect, it } from "vitest"
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
