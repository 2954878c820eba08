import { type EntryRef, foldHistory, type SessionId } from "@ku0/agent-runtime-core"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Store } from "../../store/open-store.js"
import type { StoreFixture } from "../store-contract.js"
import { createSession, expectCode, user } from "./samples.js"

export function describeHistory(fixture: StoreFixture): void {
  describe("history", () => {
    it("goes on from where a branch left, sharing what came before", async () => {
      const store = await fixture.open()
      const root = await createSession(store, "root")
      const entries = await store.log.append(root.id, [user("a"), user("b"), user("c")])
      const rowsBefore = await countEntries(store)
      const branch = await store.sessions.create({ workspacePath: "/w", parent: entries[1] as EntryRef })
      expect(await countEntries(store)).toBe(rowsBefore + 1)
      expect(branch).toMatchObject({ parentSessionId: root.id, messageCount: 2, headSeq: 1 })
      await store.log.append(branch.id, [user("d")])
      expect(await contents(store, branch.id)).toEqual(["a", "b", "d"])
      expect(await contents(store, root.id)).toEqual(["a", "b", "c"])
    })

    it("continues elsewhere in the same session after a rewind, and forgets nothing", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const [a] = await store.log.append(id, [user("a"), user("b")])
      const parent = { sessionId: id, seq: a?.seq as number }
      await store.log.append(id, [{ type: "history:rewind", data: {}, parent }, user("c")])
      expect(await contents(store, id)).toEqual(["a", "c"])
      expect(await store.sessions.get(id)).toMatchObject({ messageCount: 2, headSeq: 5 })
      expect(await contents(store, id, 3)).toEqual(["a", "b"])
    })

    it("refuses to continue from an entry that is not there", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const jump = (parent: EntryRef) => store.log.append(id, [{ type: "history:rewind", data: {}, parent }])
      await expectCode(jump({ sessionId: id, seq: 99 }), "NOT_FOUND")
      await expectCode(jump({ sessionId: id, seq: 2 }), "NOT_FOUND")
      await expectCode(jump({ sessionId: "nobody" as SessionId, seq: 1 }), "NOT_FOUND")
      await expectCode(store.log.fold({ sessionId: id, seq: 9 }), "NOT_FOUND")
      await expectCode(store.log.lastMessages({ sessionId: id, seq: 9 }, 1), "NOT_FOUND")
    })

    it("gives the last messages across branches, oldest of them first", async () => {
      const store = await fixture.open()
      const root = await createSession(store)
      const entries = await store.log.append(root.id, [
        user("1"),
        user("2"),
        { type: "noise:made", data: {} },
        user("3"),
      ])
      const branch = await store.sessions.create({ workspacePath: "/w", parent: entries[3] as EntryRef })
      await store.log.append(branch.id, [user("4"), { type: "noise:made", data: {} }])
      const last = await store.log.lastMessages(await store.log.head(branch.id), 3)
      expect(last.map(({ index, message }) => [index, message.content])).toEqual([
        [2, "2"],
        [3, "3"],
        [4, "4"],
      ])
    })

    it("says which entry is missing when one is", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      await store.log.append(id, [user("a"), user("b"), user("c")])
      await store.context.driver.run("DELETE FROM entries WHERE session_id = ? AND seq = 3", [id])
      await expectCode(store.log.fold({ sessionId: id, seq: 4 }), "CORRUPT", /Entry 3/)
    })

    it("folds to the same state, whatever way the log grew into a tree", { timeout: 120_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
          const store = await fixture.open()
          const model = new Map<string, Placed[]>() // session → its own entries, each with the path that leads to it
          const first = await createSession(store)
          model.set(first.id, [{ ref: { sessionId: first.id, seq: 1 }, path: [] }])
          for (const { action, where, text } of steps) await grow(store, model, action, where, text)
          for (const placed of [...model.values()].flat()) {
            const said = (await store.log.lastMessages(placed.ref, 1000)).map(({ message }) => message.content)
            expect(said).toEqual(placed.path)
            const folded = await store.log.fold(placed.ref)
            expect(folded.messages.map(({ content }) => content)).toEqual(placed.path)
            const entries = []
            for await (const entry of store.log.history(placed.ref)) entries.push(entry)
            expect(foldHistory(entries)).toEqual(folded)
          }
          await store.close()
          await fixture.cleanUp()
        }),
        { numRuns: 15 },
      )
    })
  })
}

interface Placed {
  readonly ref: EntryRef
  readonly path: readonly string[]
}

const step = fc.record({
  action: fc.constantFrom("say" as const, "say" as const, "branch" as const, "rewind" as const),
  where: fc.nat(),
  text: fc.string({ maxLength: 5 }),
})

/** Does a step on the store and, much more simply, on the model. */
async function grow(store: Store, model: Map<string, Placed[]>, action: string, where: number, text: string) {
  const all = [...model.values()].flat()
  const target = all[where % all.length] as Placed
  if (action === "branch") {
    const branch = await store.sessions.create({ workspacePath: "/w", parent: target.ref })
    model.set(branch.id, [{ ref: { sessionId: branch.id, seq: 1 }, path: target.path }])
    return
  }
  const own = model.get(target.ref.sessionId) as Placed[]
  const head = own.at(-1) as Placed
  if (action === "rewind") {
    const [entry] = await store.log.append(head.ref.sessionId, [
      { type: "history:rewind", data: {}, parent: target.ref },
    ])
    own.push({ ref: entry as EntryRef, path: target.path })
  } else {
    const [entry] = await store.log.append(head.ref.sessionId, [user(text)])
    own.push({ ref: entry as EntryRef, path: [...head.path, text] })
  }
}

async function contents(store: Store, sessionId: SessionId, seq?: number): Promise<string[]> {
  const { messages } = await store.log.fold(seq === undefined ? await store.log.head(sessionId) : { sessionId, seq })
  return messages.map(({ content }) => content)
}

async function countEntries(store: Store): Promise<number> {
  return Number((await store.context.driver.get("SELECT COUNT(*) AS n FROM entries"))?.["n"])
}
