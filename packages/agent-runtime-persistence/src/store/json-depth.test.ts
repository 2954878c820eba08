import { describe, expect, it } from "vitest"
import { isNestedDeeper } from "./json-depth.js"

const lists = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`

describe("the depth of JSON", () => {
  it("is how many arrays and objects lie inside each other, not how many there are", () => {
    expect([isNestedDeeper(lists(5), 5), isNestedDeeper(lists(6), 5)]).toEqual([false, true])
    expect(isNestedDeeper(`[${Array(50).fill("[[]]").join(",")}]`, 3)).toBe(false)
    expect(isNestedDeeper('{"a":{"b":[{"c":1}]}}', 4)).toBe(false)
    expect(isNestedDeeper('{"a":{"b":[{"c":1}]}}', 3)).toBe(true)
  })

  it("does not count what stands in texts, however they are quoted", () => {
    for (const text of ["[[[[", 'a"[[[[', '\\"[[[[', "[[[[\\", '\\\\"[[[[\\\\']) {
      expect(isNestedDeeper(JSON.stringify([text, text]), 1), text).toBe(false)
      expect(isNestedDeeper(JSON.stringify([text, [text]]), 1), text).toBe(true)
    }
  })

  it("is found in what is no JSON too", () => {
    expect(isNestedDeeper("[".repeat(100_000), 2_000)).toBe(true)
    expect(isNestedDeeper(`"${"\\".repeat(100_000)}`, 2)).toBe(false)
  })
})
