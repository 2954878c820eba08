/** What a store of execution state must do, as a test suite: the same on every database. */
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import {
  type ExecutionLease,
  type ExecutionTaskSnapshot,
  SQLiteExecutionStateStore,
} from "../session/sqlite-execution-state-store.js"
import type { Store } from "../store/open-store.js"

export function describeExecutionState(name: string, open: () => Promise<Store>): void {
  describe(`execution state on ${name}`, () => {
    let store: Store
    let state: SQLiteExecutionStateStore
    beforeEach(async () => {
      store = await open()
      state = new SQLiteExecutionStateStore({ store })
    })
    afterEach(async () => {
      await state.close()
      await store.close()
    })

    it("saves, replaces, finds and deletes leases", async () => {
      const lease = makeLease("l1")
      await state.saveLease(lease)
      await state.saveLease(makeLease("l2", { taskId: "t2", workerId: "w2", status: "failed" }))
      expect(await state.loadLease("l1")).toEqual(lease)
      await state.saveLease({ ...lease, status: "completed", attempt: 2 })
      expect(await state.loadLease("l1")).toEqual({ ...lease, status: "completed", attempt: 2 })
      expect((await state.listLeases()).map(({ leaseId }) => leaseId)).toEqual(["l1", "l2"])
      const ids = async (filter: Parameters<typeof state.listLeases>[0]) =>
        (await state.listLeases(filter)).map(({ leaseId }) => leaseId)
      expect(await ids({ status: "failed" })).toEqual(["l2"])
      expect(await ids({ status: ["failed", "completed"] })).toEqual(["l1", "l2"])
      expect(await ids({ status: [] })).toEqual([])
      expect(await ids({ taskId: "t2", workerId: "w2" })).toEqual(["l2"])
      expect(await ids({ taskId: "t1", workerId: "w2" })).toEqual([])
      await state.deleteLease("l1")
      await state.deleteLease("never there")
      expect(await state.loadLease("l1")).toBeNull()
    })

    it("keeps snapshots of tasks in order and knows the latest of each", async () => {
      const full: ExecutionTaskSnapshot = {
        ...makeSnapshot("a", 1),
        workerId: "w",
        result: null,
        error: "no",
        modelId: "m",
        toolName: "t",
        metadata: { deep: [1] },
      }
      await state.saveTaskSnapshot(full)
      await state.saveTaskSnapshot(makeSnapshot("b", 2, { status: "running" }))
      await state.saveTaskSnapshot(makeSnapshot("a", 10, { status: "completed", result: { ok: true } }))
      await state.saveTaskSnapshot(makeSnapshot("b", 2, { status: "failed" }))
      const all = await state.listTaskSnapshots()
      expect(all.map(({ taskId, sequence, status }) => [taskId, sequence, status])).toEqual([
        ["a", 1, "queued"],
        ["b", 2, "failed"],
        ["a", 10, "completed"],
      ])
      expect(all[0]).toEqual(full)
      expect((await state.getLatestTaskSnapshots()).map(({ taskId, sequence }) => [taskId, sequence])).toEqual([
        ["b", 2],
        ["a", 10],
      ])
      const sequences = async (filter: Parameters<typeof state.listTaskSnapshots>[0]) =>
        (await state.listTaskSnapshots(filter)).map(({ sequence }) => sequence)
      expect(await sequences({ taskId: "a", afterSequence: 1 })).toEqual([10])
      expect(await sequences({ status: ["queued", "failed"] })).toEqual([1, 2])
      expect(await sequences({ limit: 1 })).toEqual([1])
      expect(await sequences({ limit: 0 })).toEqual([])
    })

    it("shares the database with the sessions", async () => {
      const session = await store.sessions.create({ workspacePath: "/w" })
      await state.saveLease(makeLease("l1"))
      expect(await store.sessions.get(session.id)).toMatchObject({ status: "active" })
      await state.close()
      await expect(state.loadLease("l1")).rejects.toMatchObject({ code: "UNAVAILABLE" })
      expect(await store.sessions.list(), "a store that was handed in stays open").toHaveLength(1)
    })
  })
}

export function makeLease(leaseId: string, change: Partial<ExecutionLease> = {}): ExecutionLease {
  const times = { acquiredAt: 1, expiresAt: 30_001, lastHeartbeatAt: 5_001 }
  return { leaseId, taskId: "t1", workerId: "w1", status: "running", ...times, attempt: 1, ...change }
}

export function makeSnapshot(
  taskId: string,
  sequence: number,
  change: Partial<ExecutionTaskSnapshot> = {},
): ExecutionTaskSnapshot {
  const facts = { type: "run", queueClass: "normal", status: "queued", attempt: 1, timestamp: sequence } as const
  return { taskId, sequence, ...facts, payload: { prompt: "é\u0000" }, ...change }
}
