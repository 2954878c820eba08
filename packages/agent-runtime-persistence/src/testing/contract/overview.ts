import type { EntryRef, SessionId } from "@ku0/agent-runtime-core"
import { describe, expect, it } from "vitest"
import { countSessions, listChangedSessions, listKnownWorkspaces, listSessionIds } from "../../session/overview.js"
import { findCommonEntry, readFamily } from "../../session/read-family.js"
import { readMessages } from "../../session/read-messages.js"
import { readReplayPage } from "../../time-travel/replay.js"
import type { StoreFixture } from "../store-contract.js"
import { createClock, createSession, user } from "./samples.js"

export function describeOverview(fixture: StoreFixture): void {
  describe("looking around", () => {
    it("searches sessions by all words of a text, whatever it holds", async () => {
      const store = await fixture.open()
      const one = await store.sessions.create({ workspacePath: "/w/parser", name: "Fix 100% of it" })
      const two = await store.sessions.create({ workspacePath: "/w/lexer", name: "other", taskDescription: "fix_it" })
      const found = async (search: string) => (await store.sessions.list({ search })).map(({ id }) => id)
      expect(await found("FIX")).toEqual([two.id, one.id])
      expect(await found("fix parser")).toEqual([one.id])
      expect(await found("0%")).toEqual([one.id])
      expect(await found("x_i")).toEqual([two.id])
      expect(await found("' OR 1=1 !")).toEqual([])
      expect(await found(two.id.slice(-8))).toEqual([two.id])
      expect(await found("  ")).toHaveLength(2)
    })

    it("knows the workspaces, and which sessions changed since", async () => {
      const clock = createClock(1_000)
      const store = await fixture.open({ clock })
      const a = await store.sessions.create({ workspacePath: "/a" })
      clock.set(2_000)
      await store.sessions.create({ workspacePath: "/b" })
      clock.set(3_000)
      await store.log.append(a.id, [user("x")])
      expect(await listKnownWorkspaces(store)).toEqual([
        { path: "/a", sessionCount: 1, updatedAt: 3_000 },
        { path: "/b", sessionCount: 1, updatedAt: 2_000 },
      ])
      expect((await listChangedSessions(store, 3_000)).map(({ id }) => id)).toEqual([a.id])
      await store.sessions.delete(a.id)
      expect(await countSessions(store)).toBe(1)
      expect(await listSessionIds(store)).not.toContain(a.id)
    })

    it("reads entries of some types only", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const noise = { type: "noise:made", data: {} }
      await store.log.append(id, [user("a"), noise, user("b"), { type: "other:made", data: {} }, noise])
      const seqs = async (options: object) => (await store.log.read(id, options)).map(({ seq }) => seq)
      expect(await seqs({ types: ["noise:made"] })).toEqual([3, 6])
      expect(await seqs({ types: ["noise:made", "other:made"], direction: "backward", limit: 2 })).toEqual([6, 5])
      expect(await seqs({ types: ["' OR 1=1 --"] })).toEqual([])
    })

    it("reads any page of the messages, across branches and restores", async () => {
      const store = await fixture.open()
      const root = await createSession(store)
      const said = await store.log.append(
        root.id,
        Array.from({ length: 9 }, (_, i) => [user(`${i + 1}`), { type: "noise:made", data: {} }]).flat(),
      )
      const branch = await store.sessions.create({ workspacePath: "/w", parent: said[9] as EntryRef })
      const [own] = await store.log.append(branch.id, [user("6'"), user("7'")])
      await store.log.append(branch.id, [{ type: "history:rewind", data: {}, parent: own as EntryRef }, user("7''")])
      const head = await store.log.head(branch.id)
      const all = ["1", "2", "3", "4", "5", "6'", "7''"]
      for (let from = 1; from <= 8; from++) {
        for (let limit = 1; limit <= 8; limit++) {
          const page = await readMessages(store, head, { from, limit })
          expect(page.map(({ message }) => message.content)).toEqual(all.slice(from - 1, from - 1 + limit))
          expect(page.map(({ index }) => index)).toEqual(page.map((_, i) => from + i))
        }
      }
    })

    it("reads any part of a replay by position", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const from = await store.checkpoints.create({ sessionId: id, trigger: "manual" })
      await store.log.append(id, [user("a"), user("b")])
      const to = await store.checkpoints.create({ sessionId: id, trigger: "manual" })
      const branch = await store.sessions.create({ workspacePath: "/w", parent: { sessionId: id, seq: to.entrySeq } })
      await store.log.append(branch.id, [user("c")])
      const end = await store.checkpoints.create({ sessionId: branch.id, trigger: "manual" })
      const whole = await readReplayPage(store, { from, to: end })
      expect(whole).toMatchObject({ total: 6, startedAt: whole.entries[0]?.createdAt })
      expect(whole.entries).toHaveLength(6)
      for (let offset = 0; offset <= 7; offset++) {
        const page = await readReplayPage(store, { from, to: end, offset, limit: 2 })
        expect(page.entries).toEqual(whole.entries.slice(offset, offset + 2))
      }
      expect(await readReplayPage(store, { from, to: from })).toEqual({
        ...{ total: 0, entries: [], startedAt: null, endedAt: null },
      })
    })

    it("finds the whole family of a session from any member, also through a deleted one", async () => {
      const store = await fixture.open()
      const root = await createSession(store, "root")
      const [a, b] = await store.log.append(root.id, [user("a"), user("b")])
      const checkpoint = await store.checkpoints.create({ sessionId: root.id, trigger: "manual", name: "x" })
      const left = await store.sessions.create({ workspacePath: "/w", parent: a as EntryRef })
      const right = await store.sessions.create({ workspacePath: "/w", parent: b as EntryRef })
      const leaf = await store.sessions.create({ workspacePath: "/w", parent: { sessionId: left.id, seq: 1 } })
      await createSession(store, "stranger")
      await store.sessions.delete(left.id)
      for (const { id } of [root, right, leaf]) {
        const family = await readFamily(store, id)
        expect(family.map((member) => member.id)).toEqual([root.id, left.id, right.id, leaf.id].sort())
        expect(family.find((member) => member.id === left.id)?.session).toBeUndefined()
        expect(family.find((member) => member.id === root.id)?.checkpoints).toEqual([
          {
            ...{ id: checkpoint.id, sessionId: root.id, seq: checkpoint.entrySeq, number: 1, name: "x" },
            ...{
              trigger: "manual",
              messageIndex: 2,
              createdAt: checkpoint.createdAt,
              pinned: false,
              filesChanged: undefined,
            },
          },
        ])
      }
      const common = await findCommonEntry(store, await store.log.head(leaf.id), await store.log.head(right.id))
      expect(common).toEqual({ sessionId: root.id, seq: a?.seq })
      const stranger = await createSession(store)
      expect(await findCommonEntry(store, await store.log.head(leaf.id), await store.log.head(stranger.id))).toBe(
        undefined,
      )
      expect(await readFamily(store, "nobody" as SessionId)).toEqual([])
    })
  })
}
