/** SIGKILL at every named step and at random instants: nothing acknowledged is lost, and plain git finds the store sound. */
import { once } from "node:events"
import { readdirSync } from "node:fs"
import type { Readable } from "node:stream"
import { setTimeout as wait } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { startChild, waitFor } from "./start-child.js"
import { fsck, makeWorkspace, type WorkspaceFixture } from "./workspace-fixture.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace({ git: true })
  for (let i = 0; i < 30; i++) work.write(`src/d${i % 5}/f${i}.txt`, `file ${i}\n`)
  work.git("add", "-A")
  work.git("commit", "-qm", "x")
  work.folderAt("empty")
  work.write("secret", "nobody else's\n", 0o400)
})
afterEach(() => work.close())

function edit(round: number): void {
  for (let i = 0; i < 8; i++) work.write(`src/d${i % 5}/f${i}.txt`, `round ${round} file ${i}\n`)
  work.write(`new-${round}/deep/x`, `${round}`)
  work.write(`new-${round}/secret`, `${round}`, 0o600)
  work.remove("secret")
  work.remove(`src/d1/f${16 + (round % 4)}.txt`)
}

async function expectDeath(order: Parameters<typeof startChild>[1]): Promise<void> {
  const end = await waitFor(await startChild(work, order))
  expect({ step: order.dieAt?.step, signal: end.signal, errors: end.errors }).toMatchObject({
    signal: "SIGKILL",
    errors: "",
  })
}

/** The same ids as `listCheckpoints` shows, and each with exactly the files it had. */
async function expectSound(pictures: Map<string, Map<string, string>>): Promise<void> {
  const store = await work.open()
  expect(fsck(store.directory)).toBe("")
  const now = await store.capture({ message: "after the crash", checkpointId: "after" })
  const present = work.picture()
  for (const [id, picture] of pictures) {
    const commit = store.listCheckpoints().get(id)
    expect(commit, id).toBeDefined()
    await store.restore(commit as string)
    expect(work.picture()).toEqual(picture)
  }
  await store.restore(now.commit)
  expect(work.picture()).toEqual(present)
  expect((await store.check()).isSound).toBe(true)
  await store.close()
}

describe("killed while a snapshot is taken", () => {
  const steps = ["scan", "hash", "trees", "pack", "refs", "state", "done"]
  it.each(["borrowed", ...steps])("at the first one, step %s", async (step) => {
    await expectDeath({ action: "capture", argument: "c1", dieAt: { step: `capture:${step}`, visit: 1 } })
    await expectSound(new Map())
  })

  it.each(steps)("at a later one, step %s", async (step) => {
    const store = await work.open()
    await store.capture({ message: "1", checkpointId: "c1" })
    await store.close()
    const pictures = new Map([["c1", work.picture()]])
    edit(1)
    await expectDeath({ action: "capture", argument: "c2", dieAt: { step: `capture:${step}`, visit: 1 } })
    if (step === "state" || step === "done") pictures.set("c2", work.picture())
    edit(2)
    await expectSound(pictures)
  })
})

describe("killed while the store is tidied", () => {
  const orders = [
    ...["own:write", "own:made", "own:done"].map((step) => ({ action: "consolidate" as const, step })),
    ...["write", "made", "refs", "done"].map((step) => ({
      action: "consolidate" as const,
      step: `consolidate:${step}`,
    })),
    ...["refs", "write", "made", "done"].map((step) => ({ action: "gc" as const, step: `gc:${step}` })),
  ]
  it.each(orders)("$action at $step", async ({ action, step }) => {
    const pictures = new Map<string, Map<string, string>>()
    const isOwning = step.startsWith("own:")
    if (isOwning) {
      // Killed before its own background work could own anything.
      await expectDeath({ action: "capture", argument: "c0", dieAt: { step: "capture:done", visit: 1 } })
      pictures.set("c0", work.picture())
    } else {
      const store = await work.open()
      for (let round = 0; round < 6; round++) {
        edit(round)
        await store.capture({ message: "x", checkpointId: `c${round}` })
        if (action !== "gc" || round % 2 === 0) pictures.set(`c${round}`, work.picture())
      }
      await store.close()
    }
    await expectDeath({ action, argument: "", keep: [...pictures.keys()], dieAt: { step, visit: 1 } })
    await expectSound(pictures)
  })
})

describe("killed while a restore changes files", () => {
  it.each(["check", "stage"])("at %s, nothing was, and the next one takes away what it left", async (step) => {
    const store = await work.open()
    const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
    await store.close()
    edit(1)
    const before = work.picture()
    const isLeft = () => readdirSync(work.root).some((name) => name.startsWith(".keepup"))
    for (const next of ["capture", "restore", "sweepRestores"] as const) {
      await expectDeath({ action: "restore", argument: commit, dieAt: { step: `restore:${step}`, visit: 1 } })
      const reopened = await work.open()
      expect(reopened.listUnfinishedRestores()).toEqual([])
      if (next === "capture") await reopened.capture({ message: "2" })
      if (next === "sweepRestores") await reopened.sweepRestores()
      if (next === "restore") {
        const { safety } = await reopened.restore(commit)
        await reopened.restore(safety.commit)
      }
      expect(isLeft()).toBe(false)
      expect(work.picture()).toEqual(before)
      expect(fsck(reopened.directory)).toBe("")
      await reopened.close()
    }
  })

  const steps = ["noted", "recheck", "delete", "rename", "renaming", "sync", "verify", "done"]
  it.each(steps)("at %s, it can be finished or taken back", async (step) => {
    const store = await work.open()
    const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
    await store.close()
    const target = work.picture()
    edit(1)
    const before = work.picture()
    for (const settle of ["finishRestore", "takeBackRestore"] as const) {
      await expectDeath({ action: "restore", argument: commit, dieAt: { step: `restore:${step}`, visit: 1 } })
      const reopened = await work.open()
      const [journal, ...others] = reopened.listUnfinishedRestores()
      expect(others).toEqual([])
      const outcome = await reopened[settle](journal as never)
      expect(outcome.failed).toEqual([])
      expect(work.picture()).toEqual(settle === "finishRestore" ? target : before)
      expect(reopened.listUnfinishedRestores()).toEqual([])
      expect(fsck(reopened.directory)).toBe("")
      expect(readdirSync(work.root).filter((name) => name.startsWith(".keepup"))).toEqual([])
      if (settle === "finishRestore") {
        await reopened.restore(outcome.safety.base === null ? commit : (journal?.safety as string))
        expect(work.picture()).toEqual(before)
      }
      await reopened.close()
    }
  })
})

describe("killed at random instants", () => {
  it("loses no snapshot that was acknowledged", async () => {
    for (let round = 0; round < 12; round++) {
      const child = await startChild(work, { action: "loop", argument: `r${round}` })
      const ended = waitFor(child)
      await wait(150 + Math.random() * 900)
      child.kill("SIGKILL")
      const { output, errors } = await ended
      expect(errors).toBe("")
      const store = await work.open()
      expect(fsck(store.directory)).toBe("")
      const checkpoints = store.listCheckpoints()
      for (const line of output.split("\n").slice(0, -1)) {
        const [id, commit, i] = line.split(" ") as [string, string, string]
        expect(checkpoints.get(id)).toBe(commit)
        const content = (await store.readFile(commit, `r${round}.txt`)).toString()
        expect(content).toBe(`r${round} ${i}\n`.repeat(50))
      }
      await store.close()
    }
    await expectSound(new Map())
  })

  it("leaves a restore that can be finished or taken back, or one that is whole", async () => {
    const store = await work.open()
    const pictures = new Map<string, Map<string, string>>()
    const commits: string[] = []
    for (const round of [1, 2]) {
      edit(round)
      for (let i = 0; i < 60; i++) work.write(`many/d${i % 6}/m${i}-${round === 1 ? i % 3 : 0}`, `${round} ${i}\n`)
      if (round === 2) work.remove("many/d1")
      const { commit } = await store.capture({ message: "x", checkpointId: `c${round}` })
      commits.push(commit)
      pictures.set(commit, work.picture())
    }
    await store.close()
    for (let round = 0; round < 24; round++) {
      const child = await startChild(work, { action: "swing", argument: commits.join(" ") })
      const ended = waitFor(child)
      for (let begun = 0; begun <= round % 3; begun++) await once(child.stdout as Readable, "data")
      await wait(Math.random() * 25)
      child.kill("SIGKILL")
      expect((await ended).errors).toBe("")
      const reopened = await work.open()
      await reopened.sweepRestores()
      const [journal, ...others] = reopened.listUnfinishedRestores()
      expect(others).toEqual([])
      if (journal === undefined) expect([...pictures.values()]).toContainEqual(work.picture())
      else {
        const how = round % 2 === 0 ? "finishRestore" : "takeBackRestore"
        expect((await reopened[how](journal)).failed).toEqual([])
        const tree = (await reopened.describe(how === "finishRestore" ? journal.target : journal.safety)).tree
        const trees = await Promise.all(commits.map(async (commit) => (await reopened.describe(commit)).tree))
        expect(work.picture()).toEqual(pictures.get(commits[trees.indexOf(tree)] as string))
      }
      expect(reopened.listUnfinishedRestores()).toEqual([])
      expect(fsck(reopened.directory)).toBe("")
      expect(readdirSync(work.root).filter((name) => name.startsWith(".keepup"))).toEqual([])
      await reopened.close()
    }
    await expectSound(new Map(commits.map((commit, i) => [`c${i + 1}`, pictures.get(commit) as Map<string, string>])))
  })
})
