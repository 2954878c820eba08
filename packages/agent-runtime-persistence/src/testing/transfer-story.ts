/** Random sessions with everything an export can hold, and what two exports have in common apart from their ids. */
import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import type { ArtifactId, Checkpoint, EntryDraft, Message, Session, SessionId } from "@ku0/agent-runtime-core"
import fc from "fast-check"
import type { Store } from "../store/open-store.js"

export type StoryStep =
  | { readonly do: "say"; readonly text: string }
  | { readonly do: "call"; readonly text: string; readonly isError: boolean }
  | { readonly do: "summarise"; readonly to: number }
  | { readonly do: "state"; readonly key: string; readonly value: unknown }
  | { readonly do: "checkpoint"; readonly name?: string; readonly isPinned: boolean }
  | { readonly do: "artifact"; readonly text: string }
  | { readonly do: "log"; readonly text: string }
  | { readonly do: "branch" | "rewind" | "pause" | "run" | "prune"; readonly pick: number }

const text = fc.oneof(fc.string({ unit: "grapheme", maxLength: 40 }), fc.constant("\u0000 \ud83d \u2028 \r\n"))
const pick = fc.nat({ max: 20 })

export const storySteps: fc.Arbitrary<StoryStep[]> = fc.array(
  fc.oneof(
    { arbitrary: fc.record({ do: fc.constant("say" as const), text }), weight: 3 },
    { arbitrary: fc.record({ do: fc.constant("call" as const), text, isError: fc.boolean() }), weight: 2 },
    { arbitrary: fc.record({ do: fc.constant("summarise" as const), to: pick }), weight: 1 },
    {
      arbitrary: fc.record({
        do: fc.constant("state" as const),
        key: fc.constantFrom("task", "progress", "__proto__", "open files"),
        value: fc.oneof(fc.jsonValue(), fc.constant(undefined)),
      }),
      weight: 2,
    },
    {
      arbitrary: fc.record(
        {
          do: fc.constant("checkpoint" as const),
          name: fc.constantFrom("a", "b é", "../../c"),
          isPinned: fc.boolean(),
        },
        { requiredKeys: ["do", "isPinned"] },
      ),
      weight: 3,
    },
    { arbitrary: fc.record({ do: fc.constant("artifact" as const), text }), weight: 1 },
    { arbitrary: fc.record({ do: fc.constant("log" as const), text }), weight: 1 },
    {
      arbitrary: fc.record({ do: fc.constantFrom("branch", "rewind", "pause", "run", "prune" as const), pick }),
      weight: 4,
    },
  ),
  { minLength: 1, maxLength: 25 },
) as fc.Arbitrary<StoryStep[]>

/** Plays a story and returns the session it ends in. */
export async function playStory(store: Store, steps: readonly StoryStep[], workspacePath: string): Promise<Session> {
  let session = await store.sessions.create({ workspacePath, name: "story", metadata: { kind: "story" } })
  const checkpoints: Checkpoint[] = []
  const append = (...drafts: EntryDraft[]) => store.log.append(session.id, drafts)
  const say = (message: Message) => append({ type: "message:added", data: { message } })
  for (const [index, step] of steps.entries()) {
    session = await store.sessions.get(session.id)
    const chosen = "pick" in step ? checkpoints[step.pick % Math.max(1, checkpoints.length)] : undefined
    if (step.do === "say") await say({ role: "user", content: step.text })
    else if (step.do === "call") await call(say, index, step)
    else if (step.do === "summarise") {
      const hides = { from: 1, to: Math.min(step.to, session.messageCount) }
      await say({ role: "summary", content: "so far", summaryId: `s${index}`, hides })
    } else if (step.do === "state") await store.state.put(session.id, { [step.key]: step.value })
    else if (step.do === "checkpoint") checkpoints.push(await takeCheckpoint(store, session.id, step, checkpoints))
    else if (step.do === "artifact") await keepArtifact(store, session, `${session.id.slice(-6)}-${index}`, step.text)
    else if (step.do === "log") await store.sessions.addLog(session.id, "info", step.text)
    else if (step.do === "prune") {
      const own = checkpoints.find(({ sessionId, name }) => sessionId === session.id && name === null)
      if (own !== undefined)
        await store.checkpoints.delete([checkpoints.splice(checkpoints.indexOf(own), 1)[0]?.id as never])
    } else if (step.do === "branch" && chosen !== undefined) {
      const parent = { sessionId: chosen.sessionId, seq: chosen.entrySeq }
      session = await store.sessions.create({
        workspacePath,
        name: "branch",
        parent,
        forkedFromCheckpointId: chosen.id,
      })
    } else if (step.do === "rewind" && chosen !== undefined) {
      const data = {
        reason: "test",
        checkpointId: chosen.id,
        messageCount: 0,
        removedSummaries: 0,
        removedTruncationMarkers: 0,
      }
      await append({ type: "history:rewind", data, parent: { sessionId: chosen.sessionId, seq: chosen.entrySeq } })
    } else if (step.do === "pause" && session.phase === "idle") {
      await append({ type: "session:paused", data: {} })
      if (step.pick % 2 === 0) await append({ type: "session:resumed", data: {} })
    } else if (step.do === "run" && session.phase === "idle") {
      await append(
        { type: "run:started", data: { runId: "r" } },
        { type: "run:ended", data: { runId: "r", outcome: "done" } },
      )
    }
  }
  return await store.sessions.get(session.id)
}

async function call(
  say: (message: Message) => Promise<unknown>,
  index: number,
  step: { text: string; isError: boolean },
): Promise<void> {
  const id = `call-${index}`
  const args = { path: step.text, sessionId: "left alone" }
  await say({ role: "assistant", content: "", toolCalls: [{ id, name: "read", arguments: args }] })
  await say({ role: "tool", callId: id, name: "read", content: step.text, ...(step.isError && { isError: true }) })
}

async function takeCheckpoint(
  store: Store,
  sessionId: SessionId,
  step: { name?: string; isPinned: boolean },
  before: readonly Checkpoint[],
): Promise<Checkpoint> {
  const isFree = !before.some((one) => one.sessionId === sessionId && one.name === step.name)
  const checkpoint = await store.checkpoints.create({
    sessionId,
    trigger: "turn.ended",
    ...(step.name !== undefined && isFree && { name: step.name }),
    note: "noted",
    git: { branch: "main", head: null, uncommitted: 1, untracked: 2, operation: null },
    sizeBytes: 7,
  })
  return step.isPinned ? await store.checkpoints.setPinned(checkpoint.id, true) : checkpoint
}

async function keepArtifact(store: Store, session: Session, id: string, content: string): Promise<void> {
  const artifact = await store.artifacts.put(
    {
      id: id as ArtifactId,
      sessionId: session.id,
      type: "ReportCard",
      schemaVersion: "1.0.0",
      title: "report",
      taskNodeId: null,
      mediaType: "text/plain",
      createdAt: 1,
      quarantine: null,
      renderHints: { a: 1 },
      idempotencyKey: `once ${id}`,
    },
    Buffer.from(content),
  )
  const { hash, sizeBytes } = artifact
  await store.log.append(session.id, [
    { type: "artifact:emitted", data: { artifactId: id, type: "ReportCard", title: "report", hash, sizeBytes } },
    { type: "message:added", data: { message: { role: "user", content: "see", artifactIds: [id] } } },
  ])
}

/** The lines of an export as values, with ids in the order they come, and without what an import may change. */
export function readComparable(path: string): unknown[] {
  const lines = gunzipSync(readFileSync(path)).toString("utf8").trimEnd().split("\n")
  const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  const root = records[0]?.["sessionId"]
  for (const record of records) {
    for (const name of ["workspacePath", "updatedAt", "sha256"]) delete record[name]
    if (record["format"] !== undefined) delete record["createdAt"]
    if (record["record"] !== "session") continue
    if (record["id"] !== root) delete record["status"]
    const { imported: _, ...metadata } = record["metadata"] as Record<string, unknown>
    record["metadata"] = metadata
  }
  let all = JSON.stringify(records)
  records
    .filter(({ record }) => record === "artifact")
    .forEach(({ id }, index) => {
      all = all.replaceAll(JSON.stringify(id), JSON.stringify(`artifact ${index}`))
    })
  const ids = new Map<string, string>()
  return JSON.parse(
    all.replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
      if (!ids.has(id)) ids.set(id, `id ${ids.size}`)
      return ids.get(id) as string
    }),
  )
}
