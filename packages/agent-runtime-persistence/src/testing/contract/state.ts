import type { SessionId } from "@ku0/agent-runtime-core"
import { describe, expect, it } from "vitest"
import type { Store } from "../../store/open-store.js"
import type { StoreFixture } from "../store-contract.js"
import { appendOwn, createSession, expectCode, user } from "./samples.js"

export function describeState(fixture: StoreFixture): void {
  describe("state", () => {
    it("hands over keys, changes some, removes some", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const first = await store.state.put(id, { task: "build", plan: { steps: ["a", "b"] }, gone: 1 })
      expect(first.changed.sort()).toEqual(["gone", "plan", "task"])
      const second = await store.state.put(id, { task: "test", gone: undefined, never: undefined })
      expect(second.changed.sort()).toEqual(["gone", "task"])
      expect({ ...(await store.state.get(await store.log.head(id))) }).toEqual({
        task: "test",
        plan: { steps: ["a", "b"] },
      })
      expect({ ...(await store.state.get({ sessionId: id, seq: 2 })) }).toEqual({
        task: "build",
        plan: { steps: ["a", "b"] },
        gone: 1,
      })
    })

    it("costs nothing for a key that did not change, whatever the order of its keys", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      await store.state.put(id, { big: { b: "x".repeat(10_000), a: [1, { d: 1, c: 2 }] }, small: 1 })
      const blobs = await countBlobs(store)
      const same = await store.state.put(id, { big: { a: [1, { c: 2, d: 1 }], b: "x".repeat(10_000) }, small: 1 })
      expect(same).toEqual({ changed: [], entry: undefined })
      await store.state.put(id, { small: 2 })
      expect(await countBlobs(store)).toBe(blobs + 1)
    })

    it("finds the state at any entry through many changes, branches and rewinds", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      await store.state.put(id, { constant: "c", n: 0 })
      const at: number[] = []
      for (let n = 1; n <= 80; n++) {
        await store.log.append(id, [user(`turn ${n}`)])
        at[n] = (await store.state.put(id, { n })).entry?.seq as number
      }
      for (const n of [1, 31, 32, 33, 64, 65, 80]) {
        expect(await store.state.get({ sessionId: id, seq: at[n] as number })).toMatchObject({ constant: "c", n })
      }
      const branch = await store.sessions.create({
        workspacePath: "/w",
        parent: { sessionId: id, seq: at[40] as number },
      })
      expect(await stateOf(store, branch.id)).toEqual({ constant: "c", n: 40 })
      await store.state.put(branch.id, { n: "branch" })
      expect(await stateOf(store, branch.id)).toEqual({ constant: "c", n: "branch" })
      const parent = { sessionId: id, seq: at[10] as number }
      await store.log.append(id, [{ type: "history:rewind", data: {}, parent }])
      expect(await stateOf(store, id)).toEqual({ constant: "c", n: 10 })
      expect((await store.state.put(id, { n: 10 })).changed).toEqual([])
    })

    it("finds the keys whatever length a change has, and what another store of the same database adds", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const many = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`key ${n}`, `hash ${n}`.repeat(5)]))
      const list = { full: true, set: many, removed: [] }
      await appendOwn(store, { id }, [{ type: "state:changed", data: list }, user("said in between")])
      const long = { full: false, set: { ...many, long: "1" }, removed: ["key 7"] }
      await appendOwn(store, { id }, [{ type: "state:changed", data: long }])
      const { "key 7": _, ...kept } = many
      expect({ ...(await store.state.keys(await store.log.head(id))) }).toEqual({ ...kept, long: "1" })
      const other = (await fixture.openAgain?.()) ?? store
      await other.state.put(id, { long: undefined })
      expect((await store.state.put(id, { long: undefined })).changed).toEqual([])
      expect({ ...(await store.state.keys(await store.log.head(id))) }).toEqual(kept)
    })

    it("says which change is damaged", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      for (let n = 1; n <= 3; n++) await store.state.put(id, { n })
      const head = await store.log.head(id)
      for (const damage of ["{", "", '{"full":false},{"full":false}']) {
        await store.context.driver.run("UPDATE entries SET data = ? WHERE session_id = ? AND seq = 3", [damage, id])
        await expectCode(store.state.keys(head), "CORRUPT", /entry 3 of session/)
      }
    })

    it("is kept with the entries of its step, all or nothing", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      await store.state.put(id, { a: 1 })
      const entries = await store.log.append(id, [user("step")], { state: { a: 2, b: 3 } })
      expect(entries.map(({ type }) => type)).toEqual(["message:added", "state:changed"])
      expect(await stateOf(store, id)).toEqual({ a: 2, b: 3 })
      expect(await store.log.append(id, [], { state: { a: 2 } })).toEqual([])
      await expectCode(store.log.append(id, [{ type: "Bad", data: {} }], { state: { a: 9 } }), "INVALID_INPUT")
      expect(await stateOf(store, id)).toEqual({ a: 2, b: 3 })
    })

    it("agrees with the fold of the log", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      for (let i = 0; i < 40; i++)
        await store.state.put(id, { [`key ${i % 7}`]: i, toggle: i % 2 === 0 ? undefined : i })
      const head = await store.log.head(id)
      expect(await store.state.keys(head)).toEqual((await store.log.fold(head)).stateKeys)
    })

    it("compresses a value over a megabyte and gives it back whole", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const memory = Array.from({ length: 30_000 }, (_, i) => ({ i, note: "a note that repeats itself" }))
      await store.state.put(id, { memory })
      expect((await stateOf(store, id))["memory"]).toEqual(memory)
      const row = await store.context.driver.get("SELECT codec, size_bytes, LENGTH(data) AS kept FROM blobs")
      expect(row?.["codec"]).not.toBe("raw")
      expect(Number(row?.["kept"])).toBeLessThan(Number(row?.["size_bytes"]) / 3)
    })

    it("says when a stored value is damaged or gone", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      await store.state.put(id, { a: "value" })
      const head = await store.log.head(id)
      await store.context.driver.run("UPDATE blobs SET data = ?", [Buffer.from('"other"')])
      await expectCode(store.state.get(head), "CORRUPT", /other content/)
      await store.context.driver.run("UPDATE blobs SET codec = 'gzip'")
      await expectCode(store.state.get(head), "CORRUPT", /decompressed/)
      await store.context.driver.run("UPDATE blobs SET codec = 'from-the-future'")
      await expectCode(store.state.get(head), "UNAVAILABLE")
      await store.context.driver.run("DELETE FROM blobs")
      await expectCode(store.state.get(head), "CORRUPT", /missing/)
    })

    it("takes keys of any name and refuses values without a JSON form", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const odd = JSON.parse('{"__proto__": 1, "constructor": 2, "": 3, "a\\u0000b": 4, "ü": 5}')
      await store.state.put(id, odd)
      const state = await store.state.get(await store.log.head(id))
      expect(Object.entries(state).sort()).toEqual(Object.entries(odd).sort())
      const deep = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`)
      for (const x of [1n, () => 1, Symbol("x"), deep]) await expectCode(store.state.put(id, { x }), "INVALID_INPUT")
      await expectCode(store.state.put("nobody" as SessionId, { x: 1 }), "NOT_FOUND")
    })
  })
}

async function stateOf(store: Store, id: SessionId): Promise<Record<string, unknown>> {
  return { ...(await store.state.get(await store.log.head(id))) }
}

async function countBlobs(store: Store): Promise<number> {
  return Number((await store.context.driver.get("SELECT COUNT(*) AS n FROM blobs"))?.["n"])
}
