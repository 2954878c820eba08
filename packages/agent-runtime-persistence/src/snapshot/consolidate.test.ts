/** Tidying beside others, and beside damage: nothing that a checkpoint needs goes, and what is in the way stops nobody. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { fsck, makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace()
})
afterEach(() => work.close())

const packFolder = (directory: string) => join(directory, "objects/pack")

it.each(["gc:write", "gc:made"])("keeps content that comes back while garbage is collected, at %s", async (step) => {
  const large = "content that comes back\n".repeat(2_000)
  const other = await work.open()
  work.write("a", "k")
  await other.capture({ message: "1", checkpointId: "c1" })
  work.write("folder/large", large)
  await other.capture({ message: "2", checkpointId: "c2" })
  work.remove("folder")
  await other.capture({ message: "3", checkpointId: "c3" })
  let captured: Promise<unknown> | undefined
  const store = await work.open({
    onStep(name) {
      if (name !== step || captured !== undefined) return
      work.write("folder/large", large)
      captured = other.capture({ message: "4", checkpointId: "c4", exact: true })
    },
  })
  await store.gc(["c1", "c3", "c4"])
  await captured
  expect(fsck(store.directory)).toBe("")
  expect((await store.check()).isSound).toBe(true)
  const commit = store.listCheckpoints().get("c4") as string
  expect((await store.readFile(commit, "folder/large")).toString()).toBe(large)
})

it("takes damage away that only dropped checkpoints have, and indexes without a pack", async () => {
  const store = await work.open()
  work.write("keep", "k")
  await store.capture({ message: "1", checkpointId: "keep" })
  work.write("drop.txt", "to be damaged ".repeat(50))
  await store.capture({ message: "2", checkpointId: "drop" })
  work.remove("drop.txt")
  await store.capture({ message: "3", checkpointId: "last" })
  const folder = packFolder(store.directory)
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".pack"))) {
    const bytes = readFileSync(join(folder, name))
    const at = bytes.indexOf("to be damaged")
    if (at < 0) continue
    bytes[at] = 0
    chmodSync(join(folder, name), 0o644)
    writeFileSync(join(folder, name), bytes)
  }
  expect((await store.check()).isSound).toBe(false)
  const [index] = readdirSync(folder).filter((one) => one.endsWith(".idx"))
  const orphan = join(folder, `pack-${"0".repeat(40)}.idx`)
  copyFileSync(join(folder, index as string), orphan)
  await store.gc(["keep", "last"])
  expect(existsSync(orphan)).toBe(false)
  expect((await store.check()).isSound).toBe(true)
  expect([...store.listCheckpoints().keys()].sort()).toEqual(["keep", "last"])
})

it("takes temporary files of killed processes away when they are old, and leaves young ones", async () => {
  const first = await work.open()
  work.write("a", "1")
  await first.capture({ message: "1", checkpointId: "c1" })
  await first.close()
  const long = new Date(Date.now() - 2 * 3_600_000)
  const files = [join(packFolder(first.directory), "tmp_pack_"), join(first.directory, "tmp-ref-")]
  for (const file of files) {
    for (const age of ["old", "young"]) writeFileSync(`${file}${age}`, "left")
    utimesSync(`${file}old`, long, long)
  }
  const next = await work.open()
  work.write("a", "2")
  await next.capture({ message: "2", checkpointId: "c2" })
  for (const file of files) expect([existsSync(`${file}old`), existsSync(`${file}young`)]).toEqual([false, true])
})

it("leaves the file of refs alone while there is nothing new to put in it", async () => {
  const store = await work.open()
  const packed = join(store.directory, "packed-refs")
  for (const id of ["c1", "c2"]) {
    work.write("a", id)
    await store.capture({ message: id, checkpointId: id })
    const before = existsSync(packed) ? statSync(packed).ino : undefined
    await store.consolidate()
    const { ino } = statSync(packed)
    expect(ino).not.toBe(before)
    await store.consolidate()
    expect(statSync(packed).ino).toBe(ino)
    expect(store.listCheckpoints().has(id)).toBe(true)
  }
  expect(fsck(store.directory)).toBe("")
})
