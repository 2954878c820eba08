/** What git says about objects and files is what we say without it, or nothing. */
import { execFileSync } from "node:child_process"
import { readdirSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"
import { createPackReader } from "./pack-reader.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace()
})
afterEach(() => work.close())

async function fillStore(): Promise<string> {
  const lines = Array.from({ length: 400 }, (_, i) => `line ${i} of a text that is long enough to be worth a delta\n`)
  const store = await work.open()
  for (let i = 0; i < 12; i++) {
    work.write("text.txt", lines.map((line, at) => (at % 37 === i ? `${line.trim()} changed\n` : line)).join(""))
    work.write(`d${i}/small.txt`, `${i}`)
    work.write("noise.bin", Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * at * (i + 7) + at) % 251)))
    await store.capture({ message: `${i}`, checkpointId: `c${i}` })
  }
  await store.close()
  return store.directory
}

const git = (directory: string, ...args: string[]) =>
  execFileSync("git", ["--git-dir", directory, ...args], { maxBuffer: 1 << 28 })

function listObjects(directory: string) {
  const lines = git(directory, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
  return lines
    .toString()
    .trim()
    .split("\n")
    .map((line) => line.split(" ") as [string, string])
}

it("reads every object as git does, in packs of single snapshots and in packs with differences", async () => {
  const directory = await fillStore()
  for (const isRepacked of [false, true]) {
    if (isRepacked) git(directory, "repack", "-adfq", "--depth=50", "--window=50")
    const reader = createPackReader(join(directory, "objects/pack"))
    const sparing = createPackReader(join(directory, "objects/pack"), 0)
    const objects = listObjects(directory)
    expect(objects.length).toBeGreaterThan(40)
    for (const [id, type] of objects) {
      const found = reader.find(id)
      expect(found?.type).toBe(type)
      expect(found?.data.equals(git(directory, "cat-file", type, id))).toBe(true)
      expect(sparing.find(id)).toEqual(found)
    }
  }
  const kinds = git(directory, "cat-file", "--batch-all-objects", "--batch-check=%(deltabase)").toString()
  expect(kinds.split("\n").some((base) => /[1-9a-f]/.test(base))).toBe(true)
})

it.each([
  ["kept in memory", 1 << 20],
  ["read where they are needed", 0],
])(
  "finds packs that come later, and says nothing of what is not there, damaged or gone (indexes %s)",
  async (_, whole) => {
    const directory = await fillStore()
    const packFolder = join(directory, "objects/pack")
    const reader = createPackReader(packFolder, whole)
    expect(reader.find("0123456789012345678901234567890123456789")).toBeUndefined()
    work.write("later.txt", "later")
    const store = await work.open()
    const { commit } = await store.capture({ message: "later", checkpointId: "later" })
    expect(reader.find(commit)?.type).toBe("commit")
    await store.close()
    git(directory, "repack", "-adq") // all packs go, and another one comes
    expect(reader.find(commit)?.type).toBe("commit")
    for (const name of readdirSync(packFolder)) if (name.endsWith(".pack")) truncateSync(join(packFolder, name), 20)
    for (const [id] of objectsOf(packFolder)) expect(reader.find(id)).toBeUndefined()
    for (const name of readdirSync(packFolder)) if (name.endsWith(".idx")) writeFileSync(join(packFolder, name), "no")
    reader.renew()
    expect(reader.find(commit)).toBeUndefined()
  },
)

/** Ids by the indexes alone, for packs git would refuse. */
function objectsOf(packFolder: string): [string][] {
  return readdirSync(packFolder)
    .filter((name) => name.endsWith(".idx"))
    .flatMap((name) => {
      const text = execFileSync("sh", ["-c", 'git show-index < "$1"', "sh", join(packFolder, name)]).toString()
      return text.split("\n").flatMap((line) => (line === "" ? [] : [[line.split(" ")[1] as string] as [string]]))
    })
}
