import { describe, expect, it } from "vitest"
import { createToolNames, createUniqueNames } from "./tool-names.js"

const describeTools = (...names: string[]) => names.map((name) => ({ name, description: "", parameters: {} }))

describe("createToolNames", () => {
  it("changes only what a service would refuse, and turns it back", () => {
    const given = ["read_file", "fs.read", "fs_read", "fs/read", "", "fs.read", "x".repeat(80)]
    const names = createToolNames(describeTools(...given))
    const shown = given.map((name) => names.toService(name))
    expect(shown.slice(0, 5)).toEqual(["read_file", "fs_read_2", "fs_read", "fs_read_3", "tool"])
    expect(shown.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true)
    expect(shown.map((name) => names.fromService(name))).toEqual(given)
  })

  it("makes names of tools that are gone usable, and hands on names the model made up", () => {
    const names = createToolNames([])
    expect([names.toService("old tool"), names.toService("")]).toEqual(["old_tool", "tool"])
    expect(names.fromService("made_up")).toBe("made_up")
  })
})

describe("createUniqueNames", () => {
  it("gives out ten thousand different ids for one, soon", () => {
    const unique = createUniqueNames("call")
    const given = Array.from({ length: 10_000 }, () => unique("y".repeat(64)))
    expect(new Set(given).size).toBe(10_000)
    expect(given.every((id) => id.length === 64)).toBe(true)
  })
})
