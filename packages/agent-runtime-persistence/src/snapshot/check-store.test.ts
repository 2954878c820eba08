/** Damage is reported by name and repaired where the content still is; garbage goes, and only garbage. */
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import type { Snapshot } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, expect, it } from "vitest"
import { fsck, makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace()
})
afterEach(() => work.close())

const packsOf = (directory: string) => readdirSync(join(directory, "objects/pack"))

it("names the checkpoints whose content is lost and puts back what the workspace still has", async () => {
  work.write("same.txt", "still there\n")
  work.write("gone.txt", "will be gone\n")
  const store = await work.open()
  await store.capture({ message: "1", checkpointId: "c1" })
  await store.close()
  const [idx] = packsOf(store.directory).filter((name) => name.endsWith(".idx"))
  const objects = execFileSync("git", [
    "--git-dir",
    store.directory,
    "cat-file",
    "--batch-all-objects",
    "--batch-check",
  ])
  const blobs = objects
    .toString()
    .split("\n")
    .filter((line) => line.includes(" blob "))
  expect(blobs.length).toBe(2)
  // Every blob goes: the pack is written anew without them.
  const rest = objects
    .toString()
    .split("\n")
    .filter((line) => / (tree|commit) /.test(line))
    .map((line) => line.slice(0, 40))
  execFileSync(
    "git",
    ["--git-dir", store.directory, "pack-objects", "-q", join(store.directory, "objects/pack/pack")],
    {
      input: rest.join("\n"),
    },
  )
  for (const extension of ["idx", "pack"])
    execFileSync("rm", ["-f", join(store.directory, "objects/pack", idx?.replace("idx", extension) as string)])
  work.write("gone.txt", "other content\n")
  const damaged = await work.open()
  const report = await damaged.check()
  expect(report.isSound).toBe(false)
  expect(report.damaged.find(({ checkpoint }) => checkpoint === "c1")?.paths).toEqual(["gone.txt", "same.txt"])
  const commit = damaged.listCheckpoints().get("c1") as string
  const before = work.picture()
  await expect(damaged.restore(commit)).rejects.toMatchObject({ code: "CORRUPT" })
  expect(work.picture()).toEqual(before)
  const repaired = await damaged.repair()
  expect(repaired.repaired).toEqual(["same.txt"])
  expect(repaired.damaged.find(({ checkpoint }) => checkpoint === "c1")?.paths).toEqual(["gone.txt"])
  const next = await damaged.capture({ message: "2", checkpointId: "c2" })
  await damaged.restore(next.commit)
  expect((await damaged.readFile(commit, "same.txt")).toString()).toBe("still there\n")
})

/** Flips a bit in the middle of every larger blob of a pack. */
function damagePack(directory: string, name: string): void {
  const file = join(directory, "objects/pack", name)
  const args = ["--git-dir", directory, "verify-pack", "-v", file.replace(/pack$/, "idx")]
  const bytes = readFileSync(file)
  for (const row of execFileSync("git", args).toString().split("\n")) {
    const [, type, , packed, offset] = row.split(/ +/)
    if (type !== "blob" || Number(packed) < 100) continue
    const at = Number(offset) + Math.floor(Number(packed) / 2)
    bytes.writeUInt8((bytes[at] as number) ^ 0x10, at)
  }
  chmodSync(file, 0o600)
  writeFileSync(file, bytes)
}

const longText = (word: string) => Array.from({ length: 300 }, (_, i) => `${word} ${i * i}\n`).join("")

it("names the checkpoint a flipped bit hit, and takes the content from another pack that has it", async () => {
  work.write("a.txt", longText("precious"))
  work.write("b.txt", "b\n")
  const store = await work.open()
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  const [pack] = packsOf(store.directory).filter((name) => name.endsWith(".pack")) as [string]
  const blob = execFileSync("git", ["hash-object", "--stdin"], { input: longText("precious") })
  const copy = join(work.state, "copy")
  execFileSync("git", ["--git-dir", store.directory, "pack-objects", "-q", copy], { input: blob })
  damagePack(store.directory, pack)
  work.write("a.txt", "something else\n")
  const alone = await store.check()
  expect(alone.isSound).toBe(false)
  expect(alone.damaged.find(({ checkpoint }) => checkpoint === "c1")?.paths).toEqual(["a.txt"])
  for (const name of readdirSync(work.state).filter((one) => one.startsWith("copy-")))
    copyFileSync(join(work.state, name), join(store.directory, "objects/pack", name.replace("copy", "pack")))
  expect(await store.repair()).toMatchObject({ isSound: true, damaged: [], problems: [] })
  expect(packsOf(store.directory)).toContain(`damaged-${pack}`)
  expect(fsck(store.directory)).toBe("")
  await store.restore(commit)
  expect(work.read("a.txt")).toBe(longText("precious"))
})

it("takes lost content from a file of any name, and from the user's repository", async () => {
  const repository = makeWorkspace({ git: true })
  try {
    repository.write("first.txt", longText("one"))
    repository.git("add", "-A")
    repository.git("commit", "-qm", "x")
    repository.write("second.txt", longText("two"))
    const store = await repository.open()
    const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
    await store.consolidate()
    for (const pack of packsOf(store.directory).filter((name) => name.endsWith(".pack")))
      damagePack(store.directory, pack)
    repository.write("elsewhere/copy.txt", longText("two"))
    repository.write("second.txt", "2")
    repository.write("first.txt", "1")
    const before = repository.picture()
    const report = await store.repair()
    expect(repository.picture()).toEqual(before)
    expect([...report.repaired].sort()).toEqual(["first.txt", "second.txt"])
    expect(report).toMatchObject({ isSound: true, damaged: [], problems: [] })
    await store.restore(commit)
    expect(repository.read("first.txt")).toBe(longText("one"))
    expect(repository.read("second.txt")).toBe(longText("two"))
  } finally {
    await repository.close()
  }
})

it("makes the lost index of a pack again", async () => {
  work.write("a.txt", longText("precious"))
  const store = await work.open()
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  const [index] = packsOf(store.directory).filter((name) => name.endsWith(".idx")) as [string]
  execFileSync("rm", ["-f", join(store.directory, "objects/pack", index)])
  const reopened = await work.open()
  expect((await reopened.check()).isSound).toBe(false)
  expect(await reopened.repair()).toMatchObject({ isSound: true, damaged: [] })
  work.write("a.txt", "later")
  await reopened.restore(commit)
  expect(work.read("a.txt")).toBe(longText("precious"))
})

it("notices a pack with a flipped bit", async () => {
  work.write("a.txt", "some content that is long enough\n".repeat(40))
  const store = await work.open()
  await store.capture({ message: "1", checkpointId: "c1" })
  const pack = join(
    store.directory,
    "objects/pack",
    packsOf(store.directory).find((name) => name.endsWith(".pack")) as string,
  )
  const bytes = readFileSync(pack)
  bytes.writeUInt8((bytes[20] as number) ^ 0xff, 20)
  chmodSync(pack, 0o600)
  writeFileSync(pack, bytes)
  expect((await store.check()).isSound).toBe(false)
})

it("goes on after its notes were lost or damaged", async () => {
  for (let i = 0; i < 20; i++) work.write(`d/f${i}`, `${i}`)
  const store = await work.open()
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  await store.close()
  for (const name of ["scan-state", "scan-directories"]) {
    truncateSync(join(store.directory, name), Math.floor(statSync(join(store.directory, name)).size / 2))
    work.write("d/f3", `after ${name}`)
    const reopened = await work.open()
    const snapshot = await reopened.capture({ message: "2", checkpointId: name })
    expect((await reopened.readFile(snapshot.commit, "d/f3")).toString()).toBe(`after ${name}`)
    expect(snapshot.filesChanged).toBe(1)
    await reopened.close()
  }
  const indexes = () => readdirSync(store.directory).filter((name) => name.startsWith("index-"))
  for (const name of indexes()) rmSync(join(store.directory, name))
  for (let i = 0; i < 300; i++) work.write(`e/f${i}`, `${i}`) // so many that the index is written anew
  work.write("d/f5", "after a lost index")
  const without = await work.open()
  const lost = (await without.captureIfChanged({ message: "2", checkpointId: "c2", since: commit })) as Snapshot
  expect(lost.filesChanged).toBe(301)
  expect((await without.readFile(lost.commit, "d/f5")).toString()).toBe("after a lost index")
  await without.close()
  for (const name of indexes()) writeFileSync(join(store.directory, name), "DIRC")
  for (const name of ["lock.db", "tidy.db"]) writeFileSync(join(store.directory, name), "garbage\n".repeat(200))
  work.write("d/f4", "after a damaged index")
  const last = await work.open()
  const snapshot = await last.capture({ message: "3", checkpointId: "c3" })
  expect((await last.readFile(snapshot.commit, "d/f4")).toString()).toBe("after a damaged index")
  await last.consolidate()
  await last.restore(commit)
  expect(work.read("d/f4")).toBe("4")
})

it("drops what no kept checkpoint needs, and keeps the rest in few files", async () => {
  const noise = (i: number) =>
    Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * 7919 + i * 104_729 + ((at * i) % 251)) % 256))
  const store = await work.open()
  const pictures = new Map<string, Map<string, string>>()
  for (let i = 0; i < 60; i++) {
    work.write("big.bin", noise(i))
    work.write(`small-${i % 5}.txt`, `${i}\n`)
    await store.capture({ message: `${i}`, checkpointId: `c${i}` })
    if (i % 20 === 0) pictures.set(`c${i}`, work.picture())
  }
  await store.consolidate()
  const size = () =>
    packsOf(store.directory).reduce((sum, name) => sum + statSync(join(store.directory, "objects/pack", name)).size, 0)
  const before = size()
  expect(packsOf(store.directory).length).toBeLessThan(12)
  await store.gc(pictures.keys())
  expect(size()).toBeLessThan(before / 3)
  expect([...store.listCheckpoints().keys()].sort()).toEqual([...pictures.keys()].sort())
  for (const [id, picture] of pictures) {
    await store.restore(store.listCheckpoints().get(id) as string)
    expect(work.picture()).toEqual(picture)
  }
  expect(fsck(store.directory)).toBe("")
})

it("finds nothing wrong with files that git would take for its own", async () => {
  for (const name of [".GIT/x", ".Git", "git~1", ".git ", ".git.", "\xe2\x80\x8c.git", ".gitmodules"])
    work.write(name, name)
  work.write("sub/.gitmodules", '[submodule "../x"]\npath = -a\nurl = -u\n')
  for (const name of [".gitmodules", ".gitattributes", ".gitignore", ".mailmap"])
    work.link(`links/${name}`, "elsewhere")
  for (const name of [".gitattributes", ".gitignore", ".mailmap"]) work.write(`folders/${name}/a.txt`, name)
  const before = work.picture()
  const store = await work.open()
  const { commit } = await store.capture({ message: "1", checkpointId: "odd" })
  expect(fsck(store.directory)).toBe("")
  expect(await store.check()).toMatchObject({ isSound: true, problems: [], damaged: [] })
  work.write("long/.gitattributes", "a".repeat(5000))
  await store.capture({ message: "2", checkpointId: "long" })
  expect(await store.check()).toMatchObject({ isSound: true, problems: [], damaged: [] })
  for (const name of [".GIT", "git~1", "links", "sub"]) work.remove(name)
  await store.restore(commit)
  expect(work.picture()).toEqual(before)
})

it("names a checkpoint whose ref can't be read", async () => {
  work.write("a.txt", "1\n")
  const store = await work.open()
  await store.capture({ message: "1", checkpointId: "c1" })
  work.write("a.txt", "2\n")
  await store.capture({ message: "2", checkpointId: "c2" })
  const file = join(store.directory, "refs/keepup/checkpoints/c1")
  rmSync(file) // its other name stays as it is
  writeFileSync(file, "no id\n")
  const { isSound, problems } = await store.check()
  expect(isSound).toBe(false)
  expect(problems.join("\n")).toContain("refs/keepup/checkpoints/c1")
})
