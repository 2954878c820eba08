/** Processes that take, prune, collect, restore, undo and rewind in one workspace at once, and are killed at it. */
import { join } from "node:path"
import type { Checkpoint } from "@ku0/agent-runtime-core"
import { beforeAll, expect, it, vi } from "vitest"
import { checkStore } from "../../src/recovery/check-store.js"
import { recoverAll } from "../../src/recovery/recover-session.js"
import { bundleProgram, startProgram } from "../../src/testing/start-program.js"
import { openFixture, type TimeTravelFixture } from "../../src/testing/time-travel-fixture.js"
import { makeStage } from "./crash-stage.js"
import type { CompanySaid } from "./programs/keep-company.js"

vi.setConfig({ testTimeout: 1_800_000 }) // dozens of processes, on a machine that may have other work
let program: string
beforeAll(async () => {
  program = await bundleProgram(join(import.meta.dirname, "programs/keep-company.ts"))
})

/** What anyone may hear who is not alone: someone was faster, is at it now, or has been at it for too long. */
const expected = ["SESSION_RUNNING", "CONFLICT", "NOT_FOUND", "UNAVAILABLE"]

it.each(["to their end", "and are killed"])("go on %s, and nothing that was promised is lost", async (how) => {
  const stage = await makeStage()
  const said: CompanySaid[] = []
  try {
    for (let round = 0; round < 4; round++) {
      const programs = ["a", "b", "c"].map((name) => startProgram(program, [stage.root, name, "12"]))
      if (how !== "to their end") {
        const [first] = programs
        await first?.heard((line: CompanySaid) => "did" in line || "refused" in line).catch(() => undefined)
        first?.signal("SIGKILL")
      }
      for (const one of programs) {
        const { code, signal } = await one.ended
        if (signal !== "SIGKILL") expect(code, one.errors()).toBe(0)
        said.push(...(one.said as CompanySaid[]))
      }
    }
    for (const one of said) if ("refused" in one) expect(expected, JSON.stringify(one)).toContain(one.code)
    const travel = await openFixture({ root: stage.root })
    try {
      const recovered = await recoverAll(travel)
      await expectKept(travel, said)
      const rows = await travel.store.context.driver.all("SELECT id FROM session_checkpoints")
      await (await travel.snapshots(travel.workspace)).gc(rows.map(({ id }) => id as string))
      await expectKept(travel, said)
      expect(await checkStore(travel), JSON.stringify(recovered)).toEqual([])
    } finally {
      await travel.close()
    }
  } finally {
    stage.remove()
  }
})

/** Every checkpoint that was promised and not taken away is there, with all its files. */
async function expectKept(travel: TimeTravelFixture, said: readonly CompanySaid[]): Promise<void> {
  const told = said.flatMap((one) => ("removed" in one ? one.removed : []))
  const session = (await travel.store.sessions.list({ limit: 500 })).at(-1)
  const pruned = (await travel.store.log.read(session?.id as Checkpoint["sessionId"]))
    .filter(({ type }) => type === "checkpoint:pruned")
    .flatMap(({ data }) => (data as { checkpointIds: string[] }).checkpointIds)
  for (const id of told) expect(pruned).toContain(id)
  const kept = said.flatMap((one) => ("kept" in one && !pruned.includes(one.kept) ? [one] : []))
  expect(kept.length, "how many is chance").toBeGreaterThan(0)
  const numbers = said.flatMap((one) => ("kept" in one ? [one.number] : []))
  expect(new Set(numbers).size).toBe(numbers.length)
  const snapshots = await travel.snapshots(travel.workspace)
  for (const { kept: id } of kept) await travel.store.checkpoints.get(id as Checkpoint["id"])
  const rows = await travel.store.context.driver.all("SELECT id FROM session_checkpoints")
  for (const { id } of rows) {
    const { snapshot, metadata } = await travel.store.checkpoints.get(id as Checkpoint["id"])
    if (snapshot === null) expect(metadata).toHaveProperty("snapshotError")
    else for (const file of await snapshots.listFiles(snapshot.commit)) await snapshots.readContent(file.id)
  }
}
