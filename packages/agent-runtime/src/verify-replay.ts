/** Proves a recorded history: folding its steps one by one gives the recorded state, and its checkpoints have their files. */
import {
  type Checkpoint,
  type CheckpointId,
  createHistoryFold,
  isKeepupError,
  type Message,
  messagesForModel,
} from "@ku0/agent-runtime-core"
import { listCheckpointFiles, replayHistory } from "@ku0/agent-runtime-persistence"
import type { Runtime } from "./open-runtime.js"

export interface ReplayReport {
  readonly entries: number
  readonly messages: number
  readonly toolCalls: number
  readonly checkpoints: number
  readonly problems: readonly string[]
}

export async function verifyReplay(
  runtime: Runtime,
  from: Checkpoint,
  to: Checkpoint | undefined,
  signal?: AbortSignal,
): Promise<ReplayReport> {
  const { store } = runtime
  const problems: string[] = []
  const fold = createHistoryFold()
  for await (const entry of store.log.history({ sessionId: from.sessionId, seq: from.entrySeq })) fold.add(entry)
  const start = fold.state().messages.length
  if (start !== from.messageIndex)
    problems.push(`checkpoint #${from.number} says message ${from.messageIndex}, the log has ${start}`)
  let count = start
  let entries = 0
  let checkpoints = 0
  for await (const entry of replayHistory(store, { from, ...(to && { to }) })) {
    signal?.throwIfAborted()
    entries++
    fold.add(entry)
    // a jump elsewhere is counted by the entry that makes it
    count = entry.parent === null ? count + (entry.type === "message:added" ? 1 : 0) : entry.messageIndex
    if (count !== entry.messageIndex) problems.push(`entry ${entry.seq} counts its messages wrong`)
    if (entry.type !== "checkpoint:created") continue
    const id = (entry.data as { checkpointId: CheckpointId }).checkpointId
    const problem = await checkCheckpoint(runtime, id)
    if (problem === undefined) checkpoints++
    else if (problem !== "") problems.push(problem)
  }
  const end = to === undefined ? await store.log.head(from.sessionId) : { sessionId: to.sessionId, seq: to.entrySeq }
  const [replayed, recorded] = [fold.state(), await store.log.fold(end)]
  if (JSON.stringify(replayed.messages) !== JSON.stringify(recorded.messages)) problems.push("the messages differ")
  if (JSON.stringify(sorted(replayed.stateKeys)) !== JSON.stringify(sorted(recorded.stateKeys)))
    problems.push("the state differs")
  const visible = messagesForModel(recorded)
  const calls = visible.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
  const results = visible.filter((message: Message) => message.role === "tool")
  if (calls.length !== results.length) problems.push("a tool call has no result")
  const messages = recorded.messages.length - start
  return { entries, messages: Math.max(0, messages), toolCalls: calls.length, checkpoints, problems }
}

/** `undefined`: it is whole. Empty: retention took it away, or it holds no files. */
async function checkCheckpoint(runtime: Runtime, id: CheckpointId): Promise<string | undefined> {
  const checkpoint = await runtime.store.checkpoints.find(id)
  if (checkpoint === undefined || checkpoint.snapshot === null) return ""
  try {
    await listCheckpointFiles(runtime, checkpoint)
    return undefined
  } catch (error) {
    if (!isKeepupError(error)) throw error
    return error.code === "UNAVAILABLE" ? "" : error.message
  }
}

function sorted(keys: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(keys).sort(([a], [b]) => (a < b ? -1 : 1))
}
