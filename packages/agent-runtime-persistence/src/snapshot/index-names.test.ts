/** Going through an index by names finds the same entries as going through it by paths, whatever version git wrote. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { joinPath } from "./byte-path.js"
import { nameAt } from "./folder-names.js"
import { visitIndex } from "./git-index.js"
import { visitNames } from "./index-names.js"

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepup-index-"))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

const long = "n".repeat(200)
const paths = [
  ...["a-", "a.b/c", "a/b", "a/b.c", "ab", "deep/er/and/deeper/x", "deep/er/and/y", "deep/er/z", "e\xe9/\xff.txt"],
  ...["same/name", "same-/name", "samf/name", `${Array.from({ length: 22 }, () => long).join("/")}/end`, "z"],
  ...Array.from({ length: 40 }, (_, i) => `many/${i % 7}/file-${i}`),
]

function makeIndex(version: number): Buffer {
  const git = (args: string[], input = "") =>
    execFileSync("git", args, { cwd: folder, input: Buffer.from(input, "latin1"), stdio: ["pipe", "pipe", "inherit"] })
  git(["init", "-q", "."])
  const id = git(["hash-object", "-w", "--stdin"], "content").toString().trim()
  git(["update-index", "-z", "--index-info"], paths.map((path) => `100644 ${id}\t${path}\0`).join(""))
  if (version === 3) git(["update-index", "--skip-worktree", "a/b"])
  git(["write-tree"])
  git(["update-index", "--index-version", String(version)])
  return readFileSync(join(folder, ".git/index"))
}

it.each([2, 3, 4])("finds every entry of version %i", (version) => {
  const data = makeIndex(version)
  expect(data.readUInt32BE(4)).toBe(version)
  const expected: unknown[] = []
  visitIndex(data, (path, at, mode, flags) => expected.push([path, at, mode, flags]))
  const source = { bytes: Buffer.alloc(0) }
  const found: [string, number, number, number, number][] = []
  let above = "?"
  const enter = (path: string) => {
    above = path
  }
  visitNames(data, source, enter, (start, at, mode, flags) => found.push([above, start, at, mode, flags]))
  const whole = found.map(([parent, start, ...rest]) => [joinPath(parent, nameAt(source.bytes, start)), ...rest])
  expect(whole).toEqual(expected)
  expect(whole).toHaveLength(paths.length)
})

it("knows where the ids of an index's trees are", () => {
  const data = makeIndex(2)
  const { readTrees, findTrees } = visitIndex(data, () => {})
  const ids = [...findTrees()].map((place) => data.toString("hex", place, place + 20))
  expect(ids).toEqual([...readTrees().values()])
  expect(ids.length).toBeGreaterThan(10)
})

it("refuses an index that ends too early", () => {
  const data = makeIndex(2)
  const cut = data.subarray(0, 400)
  const visit = () => visitNames(cut, { bytes: cut }, nothing, nothing)
  expect(visit).toThrowError(expect.objectContaining({ code: "CORRUPT" }))
})

it("refuses a long name that does not end", () => {
  const data = Buffer.from(makeIndex(2)).fill(0x61, 72)
  data.writeUInt16BE(0xfff, 72)
  const visit = () => visitNames(data, { bytes: data }, nothing, nothing)
  expect(visit).toThrowError(expect.objectContaining({ code: "CORRUPT" }))
})

const nothing = () => {}
