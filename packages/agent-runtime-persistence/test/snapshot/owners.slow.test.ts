/** A workspace of somebody, and a keepup that root runs, as in many containers. Needs to be root. */
import { chownSync, lchownSync, lstatSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "./workspace-fixture.js"

let work: WorkspaceFixture
beforeEach(() => {
  if (process.geteuid?.() !== 0) throw new Error("This test gives files away; run it as root.")
  work = makeWorkspace()
})
afterEach(() => work.close())

const somebody = 12_345
const at = (path: string) => join(work.root, path)
function ownerOf(path: string) {
  const { uid, gid } = lstatSync(at(path))
  return [uid, gid]
}

it("gives replaced files back to their owners, and new ones to the owner of the folder they come into", async () => {
  work.write("mine/changed.txt", "1")
  work.write("mine/run.sh", "1", 0o755)
  work.write("mine/gone.txt", "1")
  work.write("mine/deep/inner/gone.txt", "1")
  work.link("mine/link", "changed.txt")
  work.write("roots.txt", "1")
  const store = await work.open()
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  for (const name of ["gone.txt", "deep", "link"]) work.remove(`mine/${name}`)
  for (const name of ["mine/changed.txt", "mine/run.sh", "roots.txt"]) work.write(name, "2")
  for (const name of ["mine", "mine/changed.txt"]) chownSync(at(name), somebody, somebody)
  lchownSync(at("mine/run.sh"), somebody, somebody + 1)
  const { failed } = await store.restore(commit)
  expect(failed).toEqual([])
  for (const name of ["changed.txt", "gone.txt", "deep", "deep/inner", "deep/inner/gone.txt", "link"])
    expect([name, ...ownerOf(`mine/${name}`)]).toEqual([name, somebody, somebody])
  expect(ownerOf("mine/run.sh")).toEqual([somebody, somebody + 1])
  expect(lstatSync(at("mine/run.sh")).mode & 0o777).toBe(0o755)
  expect(ownerOf("roots.txt")).toEqual([0, 0])
})
