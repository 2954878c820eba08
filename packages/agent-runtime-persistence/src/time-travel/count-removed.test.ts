import type { Entry, EntryRef, Message, Session } from "@ku0/agent-runtime-core"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { openStore } from "../store/open-store.js"
import { countRemoved } from "./count-removed.js"

/** Someone speaks, something is summed up or left out (perhaps at length), history goes on from an entry before, or a branch is made there. */
const step = fc.oneof(
  fc.record({
    kind: fc.constantFrom("user", "summary", "truncation"),
    isLong: fc.nat(19).map((chance) => chance === 19),
  }),
  fc.record({ kind: fc.constantFrom("rewind", "branch"), at: fc.nat(30) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function draft(step: Extract<Step, { isLong: boolean }>, index: number) {
  const content = step.isLong ? "the summary of a truncation ".repeat(40_000) : "a summary"
  const hides = { from: 0, to: 0 }
  const message: Message =
    step.kind === "user"
      ? { role: "user", content }
      : step.kind === "summary"
        ? { role: "summary", summaryId: `s${index}`, content, hides }
        : { role: "truncation", truncationId: `t${index}`, content, hides }
  return { type: "message:added", data: { message } }
}

/** Plays the steps and gives every entry that can be gone to. */
async function play(store: Awaited<ReturnType<typeof openStore>>, steps: readonly Step[]): Promise<EntryRef[]> {
  let session: Session = await store.sessions.create({ workspacePath: "/somewhere", name: "one" })
  const refs: EntryRef[] = []
  const pick = (at: number) => refs[at % refs.length] as EntryRef
  for (const [index, step] of steps.entries()) {
    if ("isLong" in step) {
      await store.log.append(session.id, [draft(step, index)])
    } else if (refs.length === 0) continue
    else {
      if (step.kind === "branch") session = await store.sessions.create({ workspacePath: "/somewhere", name: "next" })
      const data = { reason: "test", messageCount: 0, removedSummaries: 0, removedTruncationMarkers: 0 }
      await store.log.append(session.id, [{ type: "history:rewind", data, parent: pick(step.at) }])
    }
    refs.push(await store.log.head(session.id))
  }
  return refs
}

describe("what a restore takes out of the history", () => {
  it("is what is on the way to now and not on the way to then", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 14 }), async (steps) => {
        const store = await openStore("sqlite::memory:")
        try {
          const refs = await play(store, steps)
          const ways = new Map<EntryRef, Entry[]>()
          for (const ref of refs) ways.set(ref, await collect(store.log.history(ref)))
          for (const now of refs) {
            for (const then of refs) {
              const shared = new Set(ways.get(then)?.map(nameOf))
              const gone = ways.get(now)?.filter((entry) => !shared.has(nameOf(entry))) ?? []
              const count = (role: string) => gone.filter((entry) => roleOf(entry) === role).length
              expect(await countRemoved(store.context.driver, now, then)).toEqual({
                removedSummaries: count("summary"),
                removedTruncationMarkers: count("truncation"),
              })
            }
          }
        } finally {
          await store.close()
        }
      }),
      { numRuns: 40 },
    )
  })
})

const nameOf = ({ sessionId, seq }: EntryRef) => `${sessionId} ${seq}`
const roleOf = ({ type, data }: Entry) => (type === "message:added" ? (data as { message: Message }).message.role : "")

async function collect(entries: AsyncIterable<Entry>): Promise<Entry[]> {
  const all: Entry[] = []
  for await (const entry of entries) all.push(entry)
  return all
}
