/**
 * Entries that say that no call is open or in doubt where they stand, and what the phase is: of what comes before one,
 * a fold needs the messages alone. An entry never changes and neither does its history, so what it says stays true.
 */
import {
  createHistoryFold,
  type Entry,
  type EntryDraft,
  type EntryRef,
  type EventData,
  foldedEvents,
  isSessionPhase,
  type SessionPhase,
} from "@ku0/agent-runtime-core"
import type { SqlRunner } from "../store/sql-driver.js"
import { historyRanges } from "./history-ranges.js"
import { historyPages } from "./read-history.js"

export interface SettledEntry extends EntryRef {
  readonly phase: SessionPhase
}

/** Who writes looks back this far for the last one. A history that was never at rest for longer is left to the readers. */
const lookBack = 5_000

const callTypes = foldedEvents.filter((type) => type !== "state:changed" && type !== "message:added")

/** The newest one of a history, or none, also if the newest is not as we write them. `within` is a number of entries. */
export async function findSettled(
  runner: SqlRunner,
  to: EntryRef,
  within = Number.MAX_SAFE_INTEGER,
): Promise<SettledEntry | undefined> {
  let left = within
  for await (const range of historyRanges(runner, to)) {
    const row = await runner.get(
      `SELECT seq, data FROM entries WHERE session_id = ? AND type = 'state:changed' AND seq >= ? AND seq <= ?
       AND data LIKE '%"settled":%' ORDER BY seq DESC LIMIT 1`,
      [range.sessionId, Math.max(range.from, range.to - left + 1), range.to],
    )
    if (row !== undefined) return readSettled(range.sessionId, Number(row["seq"]), row["data"] as string)
    left -= range.to - range.from + 1
    if (left <= 0) return undefined
  }
  return undefined
}

function readSettled(sessionId: EntryRef["sessionId"], seq: number, text: string): SettledEntry | undefined {
  try {
    const { settled } = JSON.parse(text) as Partial<EventData<"state:changed">>
    return isSessionPhase(settled?.phase) ? { sessionId, seq, phase: settled.phase } : undefined
  } catch {
    return undefined // damaged: who reads the state says so, and without it the fold reads everything
  }
}

/** What an entry can say that comes after these drafts, which come after `after`: the phase, if no call is open there. */
export async function draftSettled(
  tx: SqlRunner,
  after: EntryRef,
  drafts: readonly EntryDraft[],
): Promise<{ phase: SessionPhase } | undefined> {
  const settled = await findSettled(tx, after, lookBack)
  if (settled === undefined && (await isLong(tx, after))) return undefined
  const fold = createHistoryFold()
  if (settled !== undefined) fold.settle(settled.phase)
  for await (const { entries } of historyPages(tx, after, { types: callTypes, ...(settled && { after: settled }) })) {
    for (const entry of entries) fold.add(entry)
  }
  try {
    for (const draft of drafts) fold.add(asEntry(after, draft))
  } catch {
    return undefined // whoever appends them says what is wrong with them
  }
  const { openToolCalls, inDoubtToolCalls, phase } = fold.state()
  return openToolCalls.length + inDoubtToolCalls.length === 0 ? { phase } : undefined
}

async function isLong(tx: SqlRunner, to: EntryRef): Promise<boolean> {
  let count = 0
  for await (const range of historyRanges(tx, to)) {
    count += range.to - range.from + 1
    if (count > lookBack) return true
  }
  return false
}

const asEntry = ({ sessionId }: EntryRef, draft: EntryDraft): Entry => ({
  version: 1,
  createdAt: 0,
  ...draft,
  sessionId,
  seq: 0,
  messageIndex: 0,
  parent: draft.parent ?? null,
})
