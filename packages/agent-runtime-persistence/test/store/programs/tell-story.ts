/**
 * Does everything a store can do, over and over, and says after each call what it was promised. Killed by itself at the
 * n-th step, or by others at any time. Arguments: address, rounds, `never` or the number of the step to die at.
 */
import type { ArtifactId, Checkpoint, EntryDraft, HeldLease, Session } from "@ku0/agent-runtime-core"
import { openStore } from "../../../src/store/open-store.js"
import { type EntryFacts, factsOf, hashOf, say } from "./said.js"

/** Before a call: how many entries it adds to which session. After it: what was promised. */
export type StorySaid =
  | { readonly step: string }
  | { readonly begin: string; readonly sessionId?: string; readonly adds?: number }
  | { readonly session: Session }
  | { readonly entries: readonly EntryFacts[] }
  | { readonly state: Record<string, unknown>; readonly at: { sessionId: string; seq: number } }
  | { readonly checkpoint: Checkpoint }
  | { readonly checkpointGone: string }
  | { readonly lease: { resource: string; number: number } }
  | { readonly released: string }
  | { readonly artifact: { id: string; hash: string } }
  | { readonly log: { sessionId: string; message: string } }
  | { readonly sessionGone: string }
  | { readonly end: true }

const [url = "", rounds = "1", dieAt = "never"] = process.argv.slice(2)

// The heart beats when the story says so: a renewal is part of it, at the same place each time.
let beat = () => undefined as unknown
globalThis.setInterval = ((work: () => void) => {
  beat = work
  return setTimeout(() => undefined, 0)
}) as unknown as typeof setInterval

let steps = 0
let renewed = () => undefined as unknown
const store = await openStore(url, {
  onStep(step) {
    steps++
    if (dieAt === "never") {
      if (rounds === "1") tell({ step })
    } else if (steps === Number(dieAt)) process.kill(process.pid, "SIGKILL")
    if (step === "renew:committed") renewed()
  },
})
for (let round = 1; round <= Number(rounds); round++) await tellStory(round)
await store.close()
tell({ end: true })

async function tellStory(round: number): Promise<void> {
  tell({ begin: "create", adds: 1 })
  const session = await store.sessions.create({
    workspacePath: "/workspace",
    name: `story ${round}`,
    metadata: { round },
  })
  tell({ session })
  await append(session, [message(`hello ${round}`)])
  await append(session, [
    { type: "run:started", data: { runId: "run" } },
    message("working"),
    { type: "tool:started", data: { callId: "call", name: "edit", arguments: { path: "a\u0000b\ud800" } } },
    { type: "tool:ended", data: { callId: "call", name: "edit", outcome: "ok" } },
    { type: "run:ended", data: { runId: "run", outcome: "completed" } },
  ])
  await handOver(session, { plan: ["one", "two"], memory: { round }, task: "x".repeat(2_000) })
  await handOver(session, { plan: ["one"], memory: { round }, task: undefined })
  const first = await checkpoint(session, 2, {
    name: "first",
    entries: [message("before the checkpoint")],
    metadata: { round },
  })
  const lease = await take(session)
  await append(session, [message("under the lease")], lease)
  const second = await checkpoint(session, 3, {
    entries: [message("a step")],
    state: { plan: [], round },
    lease,
  })
  await append(session, [message("long ".repeat(220_000) + round)], lease)
  await renew()
  const branch = await branchFrom(session, first)
  await append(branch, [message("on the branch")])
  await append(session, [{ type: "run:started", data: { runId: "again" } }, jump(session, first)], lease)
  await append(session, [message("after going back")], lease)
  await handOver(branch, { plan: ["another"] })
  await keepArtifact(session, `artifact ${round}`)
  await addLog(session, "warn", `told ${round}`)
  tell({ begin: "rename" })
  tell({ session: await store.sessions.rename(session.id, `renamed ${round}`) })
  tell({ begin: "metadata" })
  tell({ session: await store.sessions.updateMetadata(session.id, { seen: round }) })
  tell({ begin: "pin" })
  tell({ checkpoint: await store.checkpoints.setPinned(first.id, true) })
  tell({ begin: "delete-checkpoint", sessionId: session.id, adds: 1 })
  await store.checkpoints.delete([second.id], { lease })
  tell({ checkpointGone: second.id })
  tell({ begin: "release" })
  await lease.release()
  tell({ released: lease.resource })
  const passing = await branchFrom(branch, undefined)
  await forget(passing)
  if (round % 2 === 0) await forget(session)
}

async function append(session: Session, drafts: EntryDraft[], lease?: HeldLease): Promise<void> {
  tell({ begin: "append", sessionId: session.id, adds: drafts.length })
  const entries = await store.log.append(session.id, drafts, lease === undefined ? {} : { lease })
  tell({ entries: entries.map(factsOf) })
}

async function handOver(session: Session, change: Record<string, unknown>): Promise<void> {
  tell({ begin: "state", sessionId: session.id, adds: 1 })
  const { entry } = await store.state.put(session.id, change)
  if (entry === undefined) throw new Error("BUG: nothing was handed over")
  tell({ state: await store.state.get(entry), at: entry })
}

async function checkpoint(session: Session, adds: number, options: object): Promise<Checkpoint> {
  tell({ begin: "checkpoint", sessionId: session.id, adds })
  const made = await store.checkpoints.create({ sessionId: session.id, trigger: "manual", ...options })
  tell({ checkpoint: made })
  return made
}

async function branchFrom(session: Session, from: Checkpoint | undefined): Promise<Session> {
  tell({ begin: "branch", adds: 1 })
  const parent = { sessionId: session.id, seq: from?.entrySeq ?? 1 }
  const branch = await store.sessions.create({
    workspacePath: "/workspace",
    name: "branch",
    parent,
    ...(from && { forkedFromCheckpointId: from.id }),
  })
  tell({ session: branch })
  return branch
}

async function take(session: Session): Promise<HeldLease> {
  tell({ begin: "lease" })
  const lease = await store.leases.take(`session:${session.id}`, { purpose: "run" })
  tell({ lease: { resource: lease.resource, number: lease.number } })
  return lease
}

async function keepArtifact(session: Session, text: string): Promise<void> {
  tell({ begin: "artifact" })
  const content = Buffer.from(text.repeat(100))
  const id = `artifact-${session.id}` as ArtifactId
  await store.artifacts.put(
    {
      id,
      sessionId: session.id,
      type: "report",
      schemaVersion: "1",
      title: text,
      taskNodeId: null,
      mediaType: "text/plain",
      createdAt: Date.now(),
      quarantine: null,
      renderHints: null,
      idempotencyKey: null,
    },
    content,
  )
  tell({ artifact: { id, hash: hashOf(content) } })
}

async function addLog(session: Session, level: "warn", text: string): Promise<void> {
  tell({ begin: "log" })
  await store.sessions.addLog(session.id, level, text)
  tell({ log: { sessionId: session.id, message: text } })
}

async function forget(session: Session): Promise<void> {
  tell({ begin: "delete", sessionId: session.id })
  await store.sessions.delete(session.id)
  tell({ sessionGone: session.id })
}

function renew(): Promise<void> {
  return new Promise((resolve) => {
    renewed = resolve
    beat()
  })
}

function jump(session: Session, to: Checkpoint): EntryDraft {
  return {
    type: "history:rewind",
    data: { to: to.entrySeq },
    parent: { sessionId: session.id, seq: to.entrySeq },
  }
}

function message(content: string): EntryDraft {
  return { type: "message:added", data: { message: { role: "user", content } } }
}

function tell(said: StorySaid): void {
  say(said)
}
