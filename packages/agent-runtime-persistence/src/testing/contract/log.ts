import type { EntryDraft, SessionId } from "@ku0/agent-runtime-core"
import { describe, expect, it } from "vitest"
import type { StoreFixture } from "../store-contract.js"
import { appendOwn, createClock, createSession, expectCode, user } from "./samples.js"

export function describeLog(fixture: StoreFixture): void {
  describe("the log", () => {
    it("appends one or several entries with gap-free numbers", async () => {
      const store = await fixture.open({ clock: createClock(7) })
      const { id } = await createSession(store)
      const entries = await store.log.append(id, [
        user("one"),
        { type: "plan:drafted", data: { steps: 3 } },
        user("two"),
      ])
      expect(entries.map(({ seq, messageIndex }) => [seq, messageIndex])).toEqual([
        [2, 1],
        [3, 1],
        [4, 2],
      ])
      expect(await store.log.read(id, { after: 1 })).toEqual(entries)
      expect(await store.log.head(id)).toEqual({ sessionId: id, seq: 4 })
      expect(await store.sessions.get(id)).toMatchObject({ headSeq: 4, messageCount: 2 })
      expect(await store.log.append(id, [])).toEqual([])
    })

    it("gives data back as it was, odd characters and sizes included", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const odd = {
        nul: "a\0b",
        lone: "\ud800x",
        emoji: "👩‍👩‍👧",
        crlf: "a\r\nb\u2028",
        nested: { deep: [[[{ x: null }]]], __proto__: undefined },
        number: 1e21,
        quote: `'"?$1;--`,
      }
      await store.log.append(id, [{ type: "odd:data", data: odd }])
      const [, entry] = await store.log.read(id)
      expect(entry?.data).toEqual(JSON.parse(JSON.stringify(odd)))
    })

    it("keeps an entry of several megabytes, compressed", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const content = "long output, again and again. ".repeat(100_000)
      const [entry] = await store.log.append(id, [user(content)])
      expect(await store.log.read(id, { after: 1 })).toEqual([entry])
      const row = await store.context.driver.get("SELECT data, blob_hash FROM entries WHERE seq = 2")
      expect(row).toMatchObject({ data: null })
      expect(await store.log.append(id, [user(content)], { at: 2 })).toEqual([entry])
    })

    it("accepts the same entries twice and refuses others in their place", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const drafts = [user("one"), user("two")]
      const first = await store.log.append(id, drafts, { at: 2 })
      expect(await store.log.append(id, drafts, { at: 2 })).toEqual(first)
      const longer = await store.log.append(id, [...drafts, user("three")], { at: 2 })
      expect(longer.map(({ seq }) => seq)).toEqual([2, 3, 4])
      await expectCode(store.log.append(id, [user("other")], { at: 2 }), "CONFLICT")
      await expectCode(store.log.append(id, [{ ...user("one"), version: 2 }], { at: 2 }), "CONFLICT")
      await expectCode(store.log.append(id, [user("gap")], { at: 6 }), "CONFLICT", /stands at entry 4/)
      await expectCode(store.log.append(id, [user("zero")], { at: 0 }), "CONFLICT")
      expect(await store.log.head(id)).toMatchObject({ seq: 4 })
    })

    it("appends all or nothing", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const bad: [string, EntryDraft][] = [
        ["no name", { type: "Not A Name", data: {} }],
        ["dot form", { type: "run.ended", data: {} }],
        ["no JSON", { type: "x:y", data: undefined }],
        ["bigint", { type: "x:y", data: { n: 1n } }],
      ]
      for (const [, draft] of bad) await expectCode(store.log.append(id, [user("first"), draft]), "INVALID_INPUT")
      expect(await store.log.read(id)).toHaveLength(1)
      expect(await store.sessions.get(id)).toMatchObject({ headSeq: 1, messageCount: 0 })
    })

    it("reads by range in either direction", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      await store.log.append(
        id,
        Array.from({ length: 20 }, (_, i) => user(String(i))),
      )
      const seqs = async (options: Parameters<typeof store.log.read>[1]) =>
        (await store.log.read(id, options)).map(({ seq }) => seq)
      expect(await seqs({ after: 5, before: 9 })).toEqual([6, 7, 8])
      expect(await seqs({ after: 5, limit: 2 })).toEqual([6, 7])
      expect(await seqs({ direction: "backward", limit: 3 })).toEqual([21, 20, 19])
      expect(await seqs({ direction: "backward", before: 4 })).toEqual([3, 2, 1])
    })

    it("keeps order by number when the clock goes back an hour", async () => {
      const clock = createClock(10_000_000)
      const store = await fixture.open({ clock })
      const { id } = await createSession(store)
      for (let i = 0; i < 4; i++) {
        await store.log.append(id, [user(String(i))])
        clock.add(-3_600_000)
      }
      const entries = await store.log.read(id, { after: 1 })
      expect(entries.map(({ seq }) => seq)).toEqual([2, 3, 4, 5])
      expect((await store.sessions.get(id)).updatedAt).toBe(10_000_000)
    })

    it("serialises appends of one process without losing one", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const appended = await Promise.all(Array.from({ length: 40 }, (_, i) => store.log.append(id, [user(String(i))])))
      const seqs = appended.flat().map(({ seq }) => seq)
      expect(seqs.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i + 2))
    })

    it("shows what another process appends, in order, until told to stop", async () => {
      const store = await fixture.open()
      const other = (await fixture.openAgain?.()) ?? store
      const { id } = await createSession(store)
      const stop = new AbortController()
      const seen: number[] = []
      const tailing = (async () => {
        for await (const entry of store.log.tail(id, { after: 1, signal: stop.signal, pollMs: 5 })) {
          seen.push(entry.seq)
          if (entry.seq === 31) stop.abort()
        }
      })()
      for (let i = 0; i < 15; i++) {
        await other.log.append(id, [user("theirs")])
        await store.log.append(id, [user("ours")])
      }
      await tailing
      expect(seen).toEqual(Array.from({ length: 30 }, (_, i) => i + 2))
    })

    it("ends with a clear error for who follows a session that is deleted, or was never there", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const { signal } = new AbortController()
      const follow = async (followed: SessionId, seen: number[]) => {
        for await (const { seq } of store.log.tail(followed, { after: 0, signal, pollMs: 5 })) {
          seen.push(seq)
          if (seq === 1) await store.sessions.delete(id)
        }
      }
      const seen: number[] = []
      await expectCode(follow(id, seen), "NOT_FOUND", /no session/)
      expect(seen).toEqual([1])
      await expectCode(follow("gone" as SessionId, []), "NOT_FOUND", /no session/)
    })

    it("refuses places, versions and times that are no whole numbers, so that no gap can come of them", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      for (const at of [0, -1, 1.5, Number.NaN, 2 ** 60]) {
        await expectCode(store.log.append(id, [user("x")], { at }), "CONFLICT")
      }
      for (const odd of [{ version: 0 }, { version: 1.5 }, { createdAt: 1.5 }, { createdAt: Number.NaN }]) {
        await expectCode(store.log.append(id, [{ ...user("x"), ...odd }]), "INVALID_INPUT")
      }
      expect((await store.log.read(id)).map(({ seq }) => seq)).toEqual([1])
    })

    it("refuses what no file could take elsewhere: names, versions and times beyond all bounds", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const long = `someone:${"x".repeat(193)}`
      for (const createdAt of [8_640_000_000_000_001, -8_640_000_000_000_001]) {
        await expectCode(store.log.append(id, [{ ...user("x"), createdAt }]), "INVALID_INPUT")
      }
      await expectCode(store.log.append(id, [{ ...user("x"), version: 2 }]), "INVALID_INPUT", /no version 2/)
      await expectCode(store.log.append(id, [{ type: "a:b", data: {}, version: 2 ** 31 }]), "INVALID_INPUT")
      await expectCode(store.log.append(id, [{ type: long, data: {} }]), "INVALID_INPUT", /Not the name/)
      expect((await store.log.read(id)).map(({ seq }) => seq)).toEqual([1])
      const largest = { createdAt: 8_640_000_000_000_000, version: 2 ** 31 - 1 }
      await store.log.append(id, [{ type: long.slice(1), data: {}, ...largest }])
    })

    it("refuses what only the store writes, next to the rows and values it names", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const facts = { name: "n", agentType: "a", taskDescription: "t", workspacePath: "/elsewhere" }
      for (const [type, data] of [
        ["session:started", facts],
        ["checkpoint:created", { checkpointId: "c", number: 7, trigger: "manual", name: null }],
        ["state:changed", { full: true, set: { plan: "0".repeat(64) }, removed: [] }],
      ] as const) {
        const drafts = [user("first"), { type, data }]
        await expectCode(store.log.append(id, drafts), "INVALID_INPUT", /written by keepup/)
        const taking = store.checkpoints.create({ sessionId: id, trigger: "manual", entries: drafts })
        await expectCode(taking, "INVALID_INPUT", /written by keepup/)
      }
      expect((await store.sessions.get(id)).headSeq).toBe(1)
    })

    it("lets nothing in that would stop the fold for ever", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      for (const [type, data] of [
        ["message:added", 7],
        ["message:added", { message: { role: "user", content: [{ type: "text", text: "hi" }] } }],
        ["message:added", { message: { role: "assistant", content: null, toolCalls: [] } }],
        ["message:added", { message: { role: "assistant", content: "", toolCalls: [{ id: 1, name: "x" }] } }],
        ["message:added", { message: { role: "god", content: "" } }],
        ["tool:ended", { callId: "c", name: "read" }],
        ["session:paused", { reason: 7 }],
        ["checkpoint:failed", { trigger: "interval", error: "no room" }],
        ["checkpoint:pruned", { checkpointIds: "all" }],
        ["run:ended", null],
        ["message:added", { message: { content: "of nobody" } }],
        ["message:added", { message: { role: "summary", content: "of nothing", summaryId: "s" } }],
        ["tool:started", null],
      ] as const) {
        const phase = type === "run:ended" ? [{ type: "run:started", data: { runId: "r" } }] : []
        const drafts = [user("before it"), ...phase, { type, data }]
        await expectCode(store.log.append(id, drafts), "INVALID_INPUT", /can't be understood \(.* must be /)
      }
      for (const data of [
        { full: true, removed: [] },
        { full: true, set: {} },
        { full: true, set: { a: 1 }, removed: [] },
      ]) {
        const appending = appendOwn(store, { id }, [{ type: "state:changed", data }])
        await expectCode(appending, "INVALID_INPUT", /can't be understood/)
      }
      await store.log.append(id, [{ type: "someone:else", data: 7 }])
      expect((await store.log.fold(await store.log.head(id))).entryCount, "nothing was kept of the others").toBe(2)
    })
  })
}
