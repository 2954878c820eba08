/**
 * Mends what can be mended without guessing, and says what it did: rows are made again from the log, refs from rows,
 * lost content from the workspace or its git repository, and what died is closed. A copy of the database is made
 * before it is written to; a database whose pages are damaged is not written to at all.
 */
import { chmodSync, lstatSync } from "node:fs"
import { isKeepupError } from "@ku0/agent-runtime-core"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { backUpDatabase } from "./back-up-database.js"
import { listOpen } from "./check-modes.js"
import { checkStore } from "./check-store.js"
import { clearWorkspace } from "./clear-notes.js"
import type { CheckStoreOptions, Finding, FindingCode } from "./finding.js"
import { listWorkspaces } from "./list-workspaces.js"
import { recoverAll } from "./recover-session.js"
import { reindex } from "./reindex.js"
import { releaseStale } from "./release-stale.js"
import { repairRows } from "./repair-rows.js"
import { repairSnapshots } from "./repair-snapshots.js"

export interface RepairResult {
  /** The copy of the database as it was, if it was written to. */
  readonly backup: string | undefined
  /** What was done, one sentence each. */
  readonly done: readonly string[]
  /** What is still to be said after it: what can't be mended. */
  readonly left: readonly Finding[]
}

const inDatabase: readonly FindingCode[] = [
  "index-damaged",
  "row-changed",
  "head-wrong",
  "phase-wrong",
  "counter-wrong",
  "restore-unfinished",
  "session-interrupted",
  "rewind-unfinished",
  "import-unfinished",
  "note-left",
  "lease-stale",
]
const inSnapshots: readonly FindingCode[] = ["ref-missing", "snapshot-damaged", "ref-unowned", "rubbish-left"]

export async function repairStore(context: TimeTravelContext, options: CheckStoreOptions = {}): Promise<RepairResult> {
  const found = await checkStore(context, options)
  const has = (codes: readonly FindingCode[]) => found.some(({ code, canRepair }) => canRepair && codes.includes(code))
  const isDamaged = found.some(({ code }) => code === "database-damaged")
  const done: string[] = []
  let backup: string | undefined
  if (has(["mode-open"])) done.push(...closeModes(context, options))
  if (has(inDatabase) && !isDamaged) {
    backup = await backUpDatabase(context)
    if (has(["index-damaged"]) && backup !== undefined) done.push(await reindex(context, backup))
    done.push(...(await repairRows(context, found)))
    done.push(...(await recover(context)))
  }
  const mayForget = !found.some(({ code, severity }) => severity === "error" && !inSnapshots.includes(code))
  if (has(inSnapshots)) done.push(...(await repairSnapshots(context, { mayForget })))
  const left = await checkStore(context, options)
  return { backup, done: [...done, ...tellTidied(found, left)], left }
}

/** Small things that are gone now, whoever of the above took them away. */
function tellTidied(found: readonly Finding[], left: readonly Finding[]): string[] {
  const isLeft = (one: Finding) => left.some(({ code, where }) => code === one.code && where === one.where)
  return found.flatMap((one) => {
    if (isLeft(one)) return []
    if (one.code === "lease-stale") return [`The lease on ${one.where}, whose holder is gone, was given back.`]
    return one.code === "note-left" ? [`The note ${one.where} of a restore that has ended was removed.`] : []
  })
}

function closeModes(context: TimeTravelContext, options: CheckStoreOptions): string[] {
  return listOpen(context, options).map((path) => {
    chmodSync(path, lstatSync(path).mode & 0o700)
    return `${path} is closed to others.`
  })
}

/** What died is closed as any start would do it, and dead leases are given back. */
async function recover(context: TimeTravelContext): Promise<string[]> {
  const done: string[] = []
  try {
    const { restores, sessions, branches, imports } = await recoverAll(context)
    for (const { restore, outcome, reason } of restores) done.push(`Restore ${restore.id} was ${outcome}: ${reason}`)
    for (const { session } of sessions) done.push(`Session ${session.id} was recovered; it is paused.`)
    for (const { id } of branches) done.push(`Session ${id}, whose files a rewind never brought back, was taken away.`)
    for (const id of imports) done.push(`Session ${id}, whose import was broken off, was taken away.`)
  } catch (error) {
    if (!isKeepupError(error)) throw error
    done.push(`Not everything that died could be closed: ${error.message}`)
  }
  for (const { path } of await listWorkspaces(context.store)) await clearWorkspace(context, path)
  await releaseStale(context)
  return done
}
