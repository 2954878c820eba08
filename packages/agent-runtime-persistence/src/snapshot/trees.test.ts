/** Edited trees hold what a plain list of paths holds, whatever the names sort like and whatever becomes a folder. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { emptyTree, type TreeNames } from "./git-objects.js"
import type { ObjectReader } from "./object-reader.js"
import { editTree, type FileEntry, listTree } from "./trees.js"

/** Those whose order among each other changes with a slash behind them. */
const names = ["a", "a.", "a0", "a-", "b"]
const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"))
const file = fc.record({
  mode: fc.constantFrom("100644", "100755"),
  id: fc.constantFrom("1".repeat(40), "2".repeat(40)),
})
const edits = fc.array(fc.tuple(path, fc.option(file, { nil: undefined })), { maxLength: 12 })

describe("a tree that is edited", () => {
  it("holds the files it held, but for those that were changed", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(edits, { maxLength: 6 }), async (rounds) => {
        const trees = new Map<string, TreeNames>([[emptyTree, new Map()]])
        const reader = {
          tree: async (id: string) => trees.get(id) as TreeNames,
          keepTree: () => {},
        } as unknown as ObjectReader
        const held = new Map<string, FileEntry>()
        let tree = emptyTree
        for (const round of rounds) {
          const wanted = new Map(round)
          // A folder and a file can't have one name: what is in the way goes, and is said to have gone.
          for (const [path, now] of round) {
            if (now === undefined || wanted.get(path) === undefined) continue
            for (const other of [...held.keys(), ...wanted.keys()])
              if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) wanted.set(other, undefined)
          }
          for (const [path, now] of wanted) {
            if (now === undefined) held.delete(path)
            else held.set(path, now)
          }
          tree = await editTree(
            reader,
            tree,
            [...wanted.keys()],
            (path) => wanted.get(path),
            (id, _, entries) => trees.set(id, entries),
          )
          expect(describeFiles(await listTree(reader, tree))).toEqual(describeFiles(held))
        }
      }),
    )
  })
})

it("asks only of changed paths what they are: a file of before can't take the place of a folder of now", async () => {
  const trees = new Map<string, TreeNames>([[emptyTree, new Map()]])
  const reader = { tree: async (id: string) => trees.get(id), keepTree: () => {} } as unknown as ObjectReader
  const one = { mode: "100644", id: "1".repeat(40) }
  const tree = await editTree(
    reader,
    emptyTree,
    ["a/x"],
    () => one,
    (id, _, entries) => trees.set(id, entries),
  )
  expect([...(await listTree(reader, tree)).keys()]).toEqual(["a/x"])
})

function describeFiles(files: ReadonlyMap<string, FileEntry>): string[] {
  return [...files].map(([path, { mode, id }]) => `${mode} ${id} ${path}`).sort()
}
