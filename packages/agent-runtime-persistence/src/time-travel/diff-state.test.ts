import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { diffState } from "./diff-state.js"

describe("the difference of two states", () => {
  it("names what changed, came and went, in the order of the keys", () => {
    const from = { plan: ["a", "b"], task: { step: 1, title: "t" }, gone: true }
    const to = { plan: ["a", "c"], task: { step: 2, title: "t" }, come: null }
    expect(diffState(from, to)).toEqual([
      { path: "/come", from: undefined, to: null },
      { path: "/gone", from: true, to: undefined },
      { path: "/plan/1", from: "b", to: "c" },
      { path: "/task/step", from: 1, to: 2 },
    ])
  })

  it("tells keys with dots and slashes apart", () => {
    expect(diffState({ "a.b": 1, a: { b: 1 } }, { "a.b": 2, a: { b: 3 } }).map(({ path }) => path)).toEqual([
      "/a/b",
      "/a.b",
    ])
    expect(diffState({ "a/b~c": 1 }, { "a/b~c": 2 })[0]?.path).toBe("/a~1b~0c")
  })

  it("shows lists of another length, and values of another kind, whole", () => {
    expect(diffState({ list: [1] }, { list: [1, 2] })).toEqual([{ path: "/list", from: [1], to: [1, 2] }])
    expect(diffState({ a: [] }, { a: {} })).toEqual([{ path: "/a", from: [], to: {} }])
    expect(diffState(1, null)).toEqual([{ path: "", from: 1, to: null }])
  })

  it("takes keys that objects have by themselves for keys", () => {
    const odd = JSON.parse('{"__proto__": {"x": 1}, "constructor": 1}')
    expect(diffState({}, odd).map(({ path }) => path)).toEqual(["/__proto__", "/constructor"])
    expect(diffState(odd, {}).map(({ path }) => path)).toEqual(["/__proto__", "/constructor"])
    expect(diffState(odd, JSON.parse(JSON.stringify(odd)))).toEqual([])
  })

  it("is empty for the same state and the other way round for the states swapped", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (from, to) => {
        expect(diffState(from, structuredClone(from))).toEqual([])
        const back = diffState(to, from).map((change) => ({ ...change, from: change.to, to: change.from }))
        expect(diffState(from, to)).toEqual(back)
      }),
    )
  })
})
