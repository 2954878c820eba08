/** Processes that take snapshots of one workspace at once, tidy up meanwhile, and do not disturb each other. */
import { afterEach, beforeEach, expect, it } from "vitest"
import { startChild, waitFor } from "./start-child.js"
import { fsck, makeWorkspace, type WorkspaceFixture } from "./workspace-fixture.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace({ git: true })
  for (let i = 0; i < 200; i++) work.write(`src/d${i % 9}/f${i}.txt`, `file ${i}\n`)
  work.git("add", "-A")
  work.git("commit", "-qm", "x")
})
afterEach(() => work.close())

it("keeps every snapshot of three processes, each exact in what its taker had written", async () => {
  const names = ["one", "two", "three"]
  const children = await Promise.all(names.map((argument) => startChild(work, { action: "loop", argument })))
  const ends = await Promise.all(children.map(waitFor))
  const store = await work.open()
  expect(fsck(store.directory)).toBe("")
  const checkpoints = store.listCheckpoints()
  for (const [n, end] of ends.entries()) {
    expect(end).toMatchObject({ code: 0, errors: "" })
    const lines = end.output.trim().split("\n")
    expect(lines.length).toBe(40)
    for (const line of lines) {
      const [id, commit, i] = line.split(" ") as [string, string, string]
      expect(checkpoints.get(id)).toBe(commit)
      expect((await store.readFile(commit, `${names[n]}.txt`)).toString()).toBe(`${names[n]} ${i}\n`.repeat(50))
      expect((await store.listFiles(commit)).length).toBeGreaterThanOrEqual(201)
    }
  }
  expect((await store.check()).isSound).toBe(true)
})
