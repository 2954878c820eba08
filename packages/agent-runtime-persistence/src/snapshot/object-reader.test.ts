import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createGit } from "./git-process.js"
import { createObjectReader, type ObjectReader } from "./object-reader.js"

let folder: string
let reader: ObjectReader

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepup-reader-"))
  execFileSync("git", ["init", "-q", "--bare", folder])
  const git = createGit({ environment: process.env, gitDirectory: folder })
  reader = createObjectReader(git, join(folder, "objects/pack"))
})
afterEach(() => {
  reader.close()
  rmSync(folder, { recursive: true })
})

const idOf = (number: number) => number.toString(16).padStart(40, "0")

function treeOf(count: number) {
  const names = Array.from({ length: count }, (_, i) => `name-${i}`)
  return new Map(names.map((name, i) => [name, { name, mode: "100644", id: idOf(i) }]))
}

it("reads trees that are on no disk yet, however many others are read meanwhile", async () => {
  const unwritten = treeOf(3)
  reader.hold(new Map([[idOf(1), unwritten]]))
  reader.keepTree(idOf(1), unwritten)
  for (let i = 2; i < 12; i++) reader.keepTree(idOf(i), treeOf(4_000))
  expect(await reader.tree(idOf(1))).toBe(unwritten)
  reader.hold(new Map())
  await expect(reader.tree(idOf(1))).rejects.toMatchObject({ code: "CORRUPT" })
})
