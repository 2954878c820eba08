/** What must hold of a batch whose processes were killed and resumed. Each check names what it found, for the report. */
import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Entry, type Message, messagesForModel, openStore, type Session, type Store } from "../../src/index.js"
import type { Batch } from "./batch.js"
import type { Life } from "./start-batch.js"

export interface BatchReport {
  /** Runs that were interrupted at least once and came to their end. */
  readonly resumed: number
  /** How often a session was found dead in the middle of something. */
  readonly interruptions: number
  readonly acknowledged: number
  readonly lost: number
  readonly completedEffects: number
  readonly repeatedEffects: number
  readonly inDoubt: number
  readonly folds: number
  /** Everything that is wrong, in words. */
  readonly problems: readonly string[]
}

type CallData = { readonly callId: string; readonly name: string; readonly choice?: string; readonly outcome?: string }

const digest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex")

export async function checkBatch(folder: string, batch: Batch, lives: readonly Life[]): Promise<BatchReport> {
  const store = await openStore(`sqlite:${join(folder, "state", "keepup.db")}`)
  try {
    const sessions = await store.sessions.list({ limit: 1_000 })
    const problems: string[] = []
    const acknowledged = await checkAcknowledged(store, lives, problems)
    const effects = await checkEffects(store, sessions, readEffects(folder), problems)
    for (const session of sessions) await checkHistory(store, batch, session, problems)
    checkChildren(sessions, problems)
    const dead = lives.flatMap(({ said }) => said.flatMap(({ recovered }) => recovered ?? []))
    const resumed = sessions.filter(
      ({ id, status, metadata }) =>
        status === "completed" && metadata["spawnedBy"] === undefined && dead.some((one) => one.id === id),
    )
    if (sessions.filter(({ metadata }) => metadata["spawnedBy"] === undefined).length !== batch.programs.length) {
      problems.push(`${batch.programs.length} programs made ${sessions.length} sessions`)
    }
    return { resumed: resumed.length, interruptions: dead.length, ...acknowledged, ...effects, problems }
  } finally {
    await store.close()
  }
}

/** Law 1: what was acknowledged is there, unchanged. Law 9: it folds here to what it folded to there. */
async function checkAcknowledged(store: Store, lives: readonly Life[], problems: string[]) {
  const logs = new Map<string, Entry[]>()
  let lost = 0
  let acknowledged = 0
  let folds = 0
  for (const { session, seq, type, data, fold } of lives.flatMap(({ said }) => said)) {
    if (session === undefined || seq === undefined) continue
    const sessionId = session as Session["id"]
    const log = logs.get(session) ?? (await store.log.read(sessionId, { limit: 10_000 }))
    logs.set(session, log)
    if (fold !== undefined) {
      folds++
      if (digest(await store.log.fold({ sessionId, seq })) !== fold)
        problems.push(`${session} folds differently at ${seq}`)
      continue
    }
    acknowledged++
    const entry = log[seq - 1]
    if (entry?.seq === seq && entry.type === type && digest(entry.data) === data) continue
    lost++
    problems.push(`${session} lost entry ${seq} (${type})`)
  }
  return { acknowledged, lost, folds }
}

/** Law 8: a completed call has its effect exactly once, one in doubt is never repeated without a word in the log. */
async function checkEffects(store: Store, sessions: readonly Session[], lines: readonly string[], problems: string[]) {
  const report = { completedEffects: 0, repeatedEffects: 0, inDoubt: 0 }
  const known = new Set<string>()
  const times = (callId: string) => lines.filter((line) => line === callId).length
  for (const { id } of sessions) {
    const log = await store.log.read(id, { limit: 10_000 })
    const of = (type: string) => log.filter((entry) => entry.type === type).map((entry) => entry as Entry<CallData>)
    const starts = of("tool:started")
    const doubts = of("tool:in-doubt")
    report.inDoubt += new Set(doubts.map(({ data }) => data.callId)).size
    for (const { data } of starts) if (data.name === "run_command") known.add(`${id} ${data.callId}`)
    for (const [place, { data, seq }] of starts.entries()) {
      const before = starts.slice(0, place).findLast((one) => one.data.callId === data.callId)
      if (before === undefined) continue
      const isTold = doubts.some((one) => one.data.callId === data.callId && one.seq > before.seq && one.seq < seq)
      if (!isTold || data.choice !== "retry") problems.push(`${data.callId} was repeated silently at ${seq}`)
    }
    for (const { data, seq } of of("tool:ended")) {
      const begun = starts.filter((one) => one.data.callId === data.callId)
      if (begun.some((one) => one.seq > seq)) problems.push(`${data.callId} ran again after its end`)
      if (data.name !== "run_command") continue
      const effects = times(data.callId)
      if (data.choice === undefined && begun.length === 1) {
        report.completedEffects++
        if (effects !== 1) problems.push(`${data.callId} completed with ${effects} effects`)
      } else if (data.outcome === "ok" && effects < 1) problems.push(`${data.callId} is done without its effect`)
      if (effects > begun.length) {
        report.repeatedEffects += effects - begun.length
        problems.push(`${data.callId} has ${effects} effects of ${begun.length} starts`)
      }
    }
  }
  for (const line of new Set(lines)) {
    if (![...known].some((one) => one.endsWith(` ${line}`))) problems.push(`an effect of ${line}, which never started`)
  }
  return report
}

/** A call has one child at most, however often its process died. */
function checkChildren(sessions: readonly Session[], problems: string[]): void {
  const known = new Set<string>()
  for (const { id, metadata } of sessions) {
    if (metadata["spawnedBy"] === undefined) continue
    const call = `${metadata["spawnedBy"]} ${metadata["spawnCallId"]}`
    if (known.has(call)) problems.push(`${id} is a second child of ${call}`)
    known.add(call)
  }
}

/** Law 11, and that a session which came to its end holds everything its program asks for, in order. */
async function checkHistory(store: Store, batch: Batch, session: Session, problems: string[]): Promise<void> {
  const state = await store.log.fold(await store.log.head(session.id))
  problems.push(...findUnpaired(messagesForModel(state)).map((problem) => `${session.name}: ${problem}`))
  if (session.metadata["spawnedBy"] !== undefined) return
  if (session.status !== "completed") problems.push(`${session.name} is ${session.status}`)
  if (state.openToolCalls.length + state.inDoubtToolCalls.length > 0) problems.push(`${session.name} has open calls`)
  const program = batch.programs.find(({ name }) => name === session.name)
  const asked = program?.turns.flat().map(({ name }) => name)
  const answered = messagesForModel(state).flatMap((message) => (message.role === "tool" ? [message.name] : []))
  if (answered.join() !== asked?.join()) problems.push(`${session.name} has results of ${answered}, not of ${asked}`)
}

/** As a model's interface sees it: calls are directly followed by their results, each once. */
function findUnpaired(messages: readonly Message[]): string[] {
  const problems: string[] = []
  let open: string[] = []
  for (const message of messages) {
    if (message.role === "tool") {
      if (!open.includes(message.callId)) problems.push(`a result of ${message.callId} without its call`)
      open = open.filter((id) => id !== message.callId)
      continue
    }
    if (open.length > 0) problems.push(`calls without a result: ${open}`)
    open = message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : []
  }
  return open.length > 0 ? [...problems, `calls without a result: ${open}`] : problems
}

function readEffects(folder: string): string[] {
  const path = join(folder, "effects")
  return existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : []
}
