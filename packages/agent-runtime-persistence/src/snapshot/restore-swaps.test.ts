/** What changes hands while a restore is on its way is not the restore's to take. */
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace()
})
afterEach(() => work.close())

/** Goes back to before two files were made, and something happens at a step of that, or while the disk turns after it. */
async function goBackDuring(at: string, isLater: boolean, happens: () => void) {
  work.write("keep.txt", "1")
  let isArmed = false
  const onStep = (step: string) => {
    if (!isArmed || step !== at) return
    isArmed = false
    if (isLater) setImmediate(happens)
    else happens()
  }
  const store = await work.open({ onStep })
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  for (const name of ["a", "b"]) work.write(`src/${name}.txt`, name)
  work.write("keep.txt", "22")
  isArmed = true
  const outcome = await store.restore(commit).catch((error) => error)
  return { outcome, journals: store.listUnfinishedRestores().length }
}

describe.each([
  ["while its note goes to the disk", "restore:noted", true],
  ["right before files are deleted", "restore:delete", false],
])("a folder that becomes a link %s", (_when, at, isLater) => {
  it("is not followed: the files that were in it stay where they are now", async () => {
    const outside = join(work.folder, "outside")
    const { outcome } = await goBackDuring(at, isLater, () => {
      renameSync(join(work.root, "src"), outside)
      symlinkSync(outside, join(work.root, "src"))
    })
    expect(outcome).toMatchObject({ code: "CONFLICT" })
    expect(readdirSync(outside)).toEqual(["a.txt", "b.txt"])
  })

  it("is not followed to files of others that have the same content", async () => {
    const outside = join(work.folder, "outside")
    mkdirSync(outside)
    for (const name of ["a", "b"]) writeFileSync(join(outside, `${name}.txt`), name)
    const { outcome } = await goBackDuring(at, isLater, () => {
      renameSync(join(work.root, "src"), join(work.root, "moved"))
      symlinkSync(outside, join(work.root, "src"))
    })
    expect(outcome).toMatchObject({ code: "CONFLICT" })
    expect(readdirSync(outside)).toEqual(["a.txt", "b.txt"])
    expect(existsSync(join(work.root, "moved/a.txt"))).toBe(true)
  })
})

it("a file saved while the note goes to the disk ends the restore before anything is touched", async () => {
  const { outcome, journals } = await goBackDuring("restore:noted", true, () => work.write("src/b.txt", "saved"))
  expect(outcome).toMatchObject({ code: "CONFLICT" })
  expect([work.read("keep.txt"), work.read("src/a.txt"), work.read("src/b.txt")]).toEqual(["22", "a", "saved"])
  expect(journals).toBe(0)
})

it("a folder that someone else deletes right before its files are is as deleted as it should be", async () => {
  const { outcome, journals } = await goBackDuring("restore:delete", false, () => work.remove("src"))
  expect(outcome).toMatchObject({ failed: [] })
  expect([existsSync(join(work.root, "src")), work.read("keep.txt"), journals]).toEqual([false, "1", 0])
})
