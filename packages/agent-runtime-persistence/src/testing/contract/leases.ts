import { describe, expect, it } from "vitest"
import { lifetimeMs } from "../../session/lease-row.js"
import type { Store } from "../../store/open-store.js"
import type { StoreFixture } from "../store-contract.js"
import { createSession, expectCode, user } from "./samples.js"

export function describeLeases(fixture: StoreFixture): void {
  describe("leases", () => {
    it("gives a lease to one at a time, with higher numbers", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const resource = `session:${id}`
      const first = await store.leases.take(resource, { purpose: "run" })
      expect(first.number).toBe(1)
      await expectCode(store.leases.take(resource, { purpose: "restore" }), "SESSION_RUNNING", /run \(pid \d+ on /)
      const refusal = "Cannot restore checkpoint while a task is running."
      await expectCode(
        store.leases.take(resource, { purpose: "restore", refusal }),
        "SESSION_RUNNING",
        /^Cannot restore/,
      )
      expect(await store.leases.find(resource)).toMatchObject({
        number: 1,
        holder: { purpose: "run", pid: process.pid },
      })
      await first.release()
      await first.release()
      expect(await store.leases.find(resource)).toBeUndefined()
      expect((await store.leases.take(resource, { purpose: "run" })).number).toBe(2)
      await expectCode(store.leases.take("nothing", { purpose: "run" }), "INVALID_INPUT")
    })

    it("takes several in one step: all of them or none", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const both = [`session:${id}`, "workspace:/w"]
      const workspace = await store.leases.take("workspace:/w", { purpose: "run" })
      await expectCode(store.leases.takeTogether(both, { purpose: "restore" }), "SESSION_RUNNING", /run \(pid \d+ on /)
      expect(await store.leases.find(`session:${id}`)).toBeUndefined()
      await workspace.release()
      const { leases, release } = await store.leases.takeTogether(both, { purpose: "restore" })
      expect(leases.map(({ resource, number }) => [resource, number])).toEqual([
        [`session:${id}`, 1],
        ["workspace:/w", 2],
      ])
      await release()
      for (const resource of both) expect(await store.leases.find(resource)).toBeUndefined()
      await release()
    })

    it("lets a workspace and a session be held at once", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      await store.leases.take("workspace:/w", { purpose: "run" })
      await store.leases.take(`session:${id}`, { purpose: "run" })
      await expectCode(store.leases.take("workspace:/w", { purpose: "run" }), "SESSION_RUNNING")
    })

    it("refuses a workspace while one inside it or around it is held: they share their files", async () => {
      const store = await fixture.open()
      const inner = await store.leases.take("workspace:/w/packages/a", { purpose: "run" })
      await store.leases.take("workspace:/w/packages/ab", { purpose: "run" })
      for (const path of ["/w/packages/a/src", "/w/packages", "/w"]) {
        await expectCode(store.leases.take(`workspace:${path}`, { purpose: "restore" }), "SESSION_RUNNING", /run \(pid/)
      }
      await inner.release()
      await store.leases.take("workspace:/w/packages/a/src", { purpose: "run" })
    })

    it("refuses the writes of those without the lease", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      await store.log.append(id, [user("nobody holds it")])
      const lease = await store.leases.take(`session:${id}`, { purpose: "run" })
      await store.log.append(id, [user("the holder")], { lease })
      await expectCode(store.log.append(id, [user("a stranger")]), "SESSION_RUNNING")
      await expectCode(store.sessions.delete(id), "SESSION_RUNNING")
      await expectCode(store.checkpoints.create({ sessionId: id, trigger: "manual" }), "SESSION_RUNNING")
      await store.checkpoints.create({ sessionId: id, trigger: "manual", lease })
      const other = await store.leases.take("workspace:/w", { purpose: "run" })
      await expectCode(store.log.append(id, [user("the wrong lease")], { lease: other }), "INVALID_INPUT")
      await lease.release()
      await expectCode(store.log.append(id, [user("too late")], { lease }), "CONFLICT")
      await store.log.append(id, [user("free again")])
    })

    it("takes over from a dead process of this host at once, also if its pid is used again", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const resource = `session:${id}`
      const lease = await store.leases.take(resource, { purpose: "run" })
      await pretend(store, { pid: 2 ** 22 + 1 })
      expect(await store.leases.find(resource)).toBeUndefined()
      await pretend(store, { pid: process.pid, process_start: "another boot:1" })
      const next = await store.leases.take(resource, { purpose: "recover" })
      expect(next.number).toBe(2)
      await expectCode(store.log.append(id, [user("from the grave")], { lease }), "CONFLICT")
      await lease.release()
      expect(await store.leases.find(resource)).toMatchObject({ number: 2 })
    })

    it("waits for a holder on another host until its lifetime is over", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const resource = `session:${id}`
      await store.leases.take(resource, { purpose: "run" })
      const { renewed_at: now } = (await store.context.driver.get("SELECT renewed_at FROM leases")) as {
        renewed_at: number
      }
      await pretend(store, { host: "elsewhere", renewed_at: now - lifetimeMs + 5_000 })
      await expectCode(store.leases.take(resource, { purpose: "run" }), "SESSION_RUNNING", /elsewhere/)
      await expectCode(store.log.append(id, [user("x")]), "SESSION_RUNNING")
      await pretend(store, { renewed_at: now - lifetimeMs - 1_000 })
      expect((await store.leases.take(resource, { purpose: "run" })).number).toBe(2)
    })

    it("is not blocked by a renewal from the future of a clock that was set back", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const resource = `session:${id}`
      await store.leases.take(resource, { purpose: "run" })
      const { renewed_at: now } = (await store.context.driver.get("SELECT renewed_at FROM leases")) as {
        renewed_at: number
      }
      await pretend(store, { renewed_at: now + 3_600_000 })
      await expectCode(store.leases.take(resource, { purpose: "run" }), "SESSION_RUNNING")
      await pretend(store, { host: "elsewhere" })
      expect((await store.leases.take(resource, { purpose: "run" })).number).toBe(2)
    })

    it("gives leases back when the store is closed", async () => {
      const store = await fixture.open()
      const again = await fixture.openAgain?.()
      if (again === undefined) return
      await store.leases.take("workspace:/w", { purpose: "run" })
      await expectCode(again.leases.take("workspace:/w", { purpose: "run" }), "SESSION_RUNNING")
      await store.close()
      await again.leases.take("workspace:/w", { purpose: "run" })
    })
  })
}

/** Changes the only lease row, as if someone else had written it. */
async function pretend(store: Store, change: Record<string, string | number>): Promise<void> {
  for (const [column, value] of Object.entries(change)) {
    await store.context.driver.run(`UPDATE leases SET ${column} = ?`, [value])
  }
}
