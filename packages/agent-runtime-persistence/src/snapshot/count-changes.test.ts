/** What a snapshot says it changed, also where not all of it could be kept in memory until the disk was done. */
import { readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace()
})
afterEach(() => work.close())

const lines = (word: string, kilobytes: number) => `${word.padEnd(1023, "x")}\n`.repeat(kilobytes)

it("counts files that take all the room there is, beside a long commit", async () => {
  for (let i = 0; i < 1500; i++)
    work.folderAt(`empty/a-folder-with-a-name-that-fills-a-commit-${"long".repeat(20)}-${i}`)
  work.write("f0.txt", "old\n".repeat(10))
  const store = await work.open()
  await store.capture({ message: "1", checkpointId: "1" })
  for (let i = 0; i < 9; i++) work.write(`f${i}.txt`, lines(`${i}`, 100))
  const several = await store.capture({ message: "2", checkpointId: "2" })
  expect(several).toMatchObject({ filesChanged: 9, insertions: 900, deletions: 10 })
  work.write("one.txt", lines("one", 1024))
  const one = await store.capture({ message: "3", checkpointId: "3" })
  expect(one).toMatchObject({ filesChanged: 1, insertions: 1024, deletions: 0 })
})

it.each(["scan-state", "index"])("counts against the last snapshot when what was noted in %s is lost", async (what) => {
  work.write("a.txt", "a\n".repeat(20))
  const first = await work.open()
  await first.capture({ message: "1", checkpointId: "1", exact: true })
  await first.close()
  for (const name of readdirSync(first.directory).filter((one) => one.startsWith(what)))
    writeFileSync(join(first.directory, name), "torn")
  work.write("a.txt", "a\n".repeat(25))
  const store = await work.open()
  const snapshot = await store.capture({ message: "2", checkpointId: "2" })
  expect(snapshot).toMatchObject({ filesChanged: 1, insertions: 5, deletions: 0 })
})

it("leaves only whole packs when it is broken off while one is written", async () => {
  work.write("a.txt", "a")
  const store = await work.open()
  await store.capture({ message: "1", checkpointId: "1" })
  for (let i = 0; i < 5; i++) {
    work.write("a.txt", `a${i}`)
    const onFound = () => {
      throw new Error("no more")
    }
    await expect(store.capture({ message: "2", checkpointId: "2", onFound })).rejects.toThrow("no more")
  }
  const packFolder = join(store.directory, "objects/pack")
  for (const name of readdirSync(packFolder)) expect(statSync(join(packFolder, name)).size).toBeGreaterThan(100)
  await store.capture({ message: "3", checkpointId: "3" })
  expect((await store.check()).problems).toEqual([])
})
