/** A system that lets a program have few files open. */
import { afterEach, beforeEach, expect, it } from "vitest"
import { startChild, waitFor } from "./start-child.js"
import { makeWorkspace, type WorkspaceFixture } from "./workspace-fixture.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace()
})
afterEach(() => work.close())

it.each([72, 80, 96, 128])("brings 600 files back, and takes 200 away, where %i may be open", async (descriptors) => {
  for (let i = 0; i < 600; i++) work.write(`d${i % 40}/f${i}`, `content ${i}`)
  const store = await work.open()
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  await store.close()
  const before = work.picture()
  for (let i = 0; i < 600; i++) work.write(`d${i % 40}/f${i}`, `changed ${i}`)
  for (let i = 0; i < 200; i++) work.write(`d${i % 40}/new${i}`, `new ${i}`)
  const child = await startChild(work, { action: "restore", argument: commit }, { descriptors })
  expect(await waitFor(child)).toMatchObject({ code: 0, errors: "" })
  expect(work.picture()).toEqual(before)
})
