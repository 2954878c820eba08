import { type Entry, type EntryRef, foldHistory, type SessionId } from "@ku0/agent-runtime-core"
import fc from "fast-check"
import { expect, test } from "vitest"
import { openStore, type Store } from "../store/open-store.js"
import { appendOwn } from "../testing/contract/samples.js"
import { findSettled } from "./settled-entry.js"

type Step =
  | { readonly kind: "start" | "end" | "doubt"; readonly call: number }
  | { readonly kind: "say" | "run" | "branch" | "rewind" | "state"; readonly where: number }

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("start" as const), call: fc.nat({ max: 3 }) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("end" as const), call: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("doubt" as const), call: fc.nat({ max: 3 }) }) },
  { weight: 20, arbitrary: fc.record({ kind: fc.constant("state" as const), where: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("say" as const, "run" as const), where: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("branch" as const, "rewind" as const), where: fc.nat() }) },
)

const history = async (store: Store, to: EntryRef): Promise<Entry[]> => {
  const entries: Entry[] = []
  for await (const entry of store.log.history(to)) entries.push(entry)
  return entries
}

const types = { start: "tool:started", end: "tool:ended", doubt: "tool:in-doubt" } as const

/** Does a step in the session it is in, with a change of state, and gives back the session to go on in. */
async function take(store: Store, id: SessionId, step: Step, count: number): Promise<SessionId> {
  const state = { count, [`key ${count % 3}`]: count }
  const { phase, headSeq } = await store.sessions.get(id)
  const place = { sessionId: id, seq: 1 + ("where" in step ? step.where % headSeq : 0) }
  if (step.kind === "branch") return (await store.sessions.create({ workspacePath: "/w", parent: place })).id
  const draft = (type: string, data: unknown, parent?: EntryRef) => [{ type, data, ...(parent && { parent }) }]
  if (step.kind === "say") {
    await store.log.append(id, draft("message:added", { message: { role: "user", content: `${count}` } }), { state })
  } else if (step.kind === "run") {
    const type = phase === "running" ? "run:ended" : phase === "idle" ? "run:started" : "session:resumed"
    await store.log.append(id, draft(type, { runId: "r", outcome: "completed" }), { state })
  } else if (step.kind === "rewind") await store.log.append(id, draft("history:rewind", {}, place), { state })
  else if (step.kind === "state") await store.state.put(id, state)
  else if ("call" in step) {
    const call = { callId: `call ${step.call}`, name: "read", arguments: { count }, outcome: "ok" }
    await store.log.append(id, draft(types[step.kind], call), { state })
  }
  return id
}

test("a fold that leaves out what an entry has settled is the fold of the whole history, at every entry", async () => {
  let settled = 0
  await fc.assert(
    fc.asyncProperty(fc.array(stepArbitrary, { minLength: 60, maxLength: 200, size: "max" }), async (steps) => {
      const store = await openStore("memory:")
      let { id } = await store.sessions.create({ workspacePath: "/w" })
      for (const [count, step] of steps.entries()) id = await take(store, id, step, count)
      const { headSeq } = await store.sessions.get(id)
      for (let seq = headSeq; seq > 0; seq -= 3) {
        const at = { sessionId: id, seq }
        if ((await findSettled(store.context.driver, at)) !== undefined) settled++
        expect(await store.log.fold(at)).toEqual(foldHistory(await history(store, at)))
      }
      await store.close()
    }),
    { numRuns: 25 },
  )
  expect(settled).toBeGreaterThan(0)
}, 120_000)

test("with a call open or in doubt no entry says that all is settled", async () => {
  const store = await openStore("memory:")
  const { id } = await store.sessions.create({ workspacePath: "/w" })
  const call = { callId: "c", name: "read", arguments: {} }
  await store.log.append(id, [{ type: "tool:started", data: call }], { state: { n: 0 } })
  for (let n = 1; n <= 40; n++) await store.state.put(id, { n })
  expect(await findSettled(store.context.driver, await store.log.head(id))).toBeUndefined()
  await store.log.append(id, [{ type: "tool:ended", data: { ...call, outcome: "ok" } }])
  for (let n = 41; n <= 80; n++) await store.state.put(id, { n })
  expect(await findSettled(store.context.driver, await store.log.head(id))).toMatchObject({ phase: "idle" })
  await store.close()
})

test("a phase nobody knows settles nothing: the fold reads everything", async () => {
  const store = await openStore("memory:")
  const { id } = await store.sessions.create({ workspacePath: "/w" })
  const call = { callId: "c", name: "read", arguments: {} }
  const lie = { full: true, set: {}, removed: [], settled: { phase: "asleep" } }
  await appendOwn(store, { id }, [
    { type: "tool:started", data: call },
    { type: "state:changed", data: lie },
  ])
  const { openToolCalls } = await store.log.fold(await store.log.head(id))
  expect(openToolCalls).toEqual([{ id: "c", name: "read", arguments: {} }])
  await store.close()
})
