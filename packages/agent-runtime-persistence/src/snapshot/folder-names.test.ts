/** Names of a folder are found in whatever order they are asked for. */
import { expect, it } from "vitest"
import { FolderNames } from "./folder-names.js"

function make(...names: string[]): FolderNames {
  const source = { bytes: Buffer.alloc(0) }
  const folder = new FolderNames(source)
  let text = "\0"
  for (const name of names) {
    folder.add(text.length)
    text += `${name}\0`
    source.bytes = Buffer.from(text, "latin1")
  }
  return folder
}

it("knows its names in order, with others between them and some left out", () => {
  const folder = make("a", "b", "d", "f")
  const asked = ["a", "aa", "d", "e", "f", "g"]
  expect(asked.filter((name) => folder.has(name))).toEqual(["a", "d", "f"])
})

it("knows its names in any order and more than once", () => {
  const folder = make("a", "b", "c")
  const asked = ["c", "a", "a", "x", "b", "c", "b", "", "a"]
  expect(asked.filter((name) => folder.has(name))).toEqual(["c", "a", "a", "b", "c", "b", "a"])
})

it("has nothing when nothing was added", () => {
  expect(make().has("a")).toBe(false)
})

it("takes neither the beginning of a name for it, nor more than it, nor another byte", () => {
  const folder = make("name", "n\xe9", "other")
  const asked = ["nam", "names", "name", "n\xe8", "n\xe9", "othe", "other"]
  expect(asked.filter((name) => folder.has(name))).toEqual(["name", "n\xe9", "other"])
})
