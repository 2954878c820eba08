/** A note on disk while a restore changes files, so that after a crash it can be finished or taken back. */
import { readdirSync, readFileSync, renameSync } from "node:fs"
import { join } from "node:path"
import { overwriteCache, removeFile, syncAll, syncFolder } from "./durable-file.js"
import type { HeldFiles } from "./held-files.js"

export interface RestoreJournal {
  readonly id: string
  readonly target: string
  /** The snapshot of the workspace before the restore. */
  readonly safety: string
  readonly paths?: readonly string[] | undefined
  /** The snapshot whose restore this one undoes. */
  readonly undoes?: string | undefined
  readonly startedAt: number
}

/** Where the new content waits, in the workspace; no snapshot ever holds it. */
export function stagingName(id: string): string {
  return `.keepup-restore-${id}`
}

const pending = ".staged"
/** For what a restore could not take away. */
const leftover = ".left"

/**
 * Writes the note of a restore whose content is being staged, on disk when it resolves. It is no journal yet; whoever
 * comes after a kill learns from it what may be left in the workspace.
 */
export async function prepareJournal(store: string, journal: RestoreJournal): Promise<void> {
  const file = join(store, "restores", `${journal.id}${pending}`)
  overwriteCache(file, Buffer.from(`${JSON.stringify(journal)}\n`))
  await syncAll([file])
}

/** Makes it the journal. On disk when it resolves; nothing may be changed before. */
export async function placeJournal(store: string, id: string): Promise<void> {
  const folder = join(store, "restores")
  renameSync(join(folder, `${id}${pending}`), join(folder, `${id}.json`))
  await syncAll([folder])
}

/** For what a restore could not take away: whoever sweeps goes by the note. Does not throw. */
export function noteLeftover(store: string, id: string): void {
  try {
    overwriteCache(join(store, "restores", `${id}${leftover}`), Buffer.from("\n"))
  } catch {
    // What is left is no part of any snapshot, and the doctor finds it by its name.
  }
}

export function abandonJournal(store: string, id: string): void {
  for (const kind of [pending, leftover]) removeFile(join(store, "restores", `${id}${kind}`))
}

/** The ids of restores that may have left something, and have no journal. None where that can't be told: a restore will say why. */
export function listPrepared(store: string): string[] {
  try {
    const ids = readdirSync(join(store, "restores")).map((name) => /^(.*)\.(?:staged|left)$/.exec(name)?.[1])
    return [...new Set(ids.filter((id) => id !== undefined))]
  } catch {
    return []
  }
}

/** Gone for good when it returns: a note that came back after a power cut would settle the restore once more. */
export function removeJournal(store: string, id: string, held?: HeldFiles): void {
  syncFolder(unlinkJournal(store, id, held))
}

/** For whoever has it on record that the restore is done, so that nobody goes by the note any more: the disk need not be waited for. */
export function dropJournal(store: string, id: string, held: HeldFiles): void {
  const folder = unlinkJournal(store, id, held)
  syncAll([folder]).catch(() => {}) // a note that comes back is one more thing for the doctor to clear away
}

function unlinkJournal(store: string, id: string, held: HeldFiles | undefined): string {
  const folder = join(store, "restores")
  const file = join(folder, `${id}.json`)
  held?.hold(file)
  removeFile(file)
  return folder
}

/**
 * Restores that were started and neither finished nor taken back, oldest first. A note that is not whole never became
 * durable, so nothing was changed under it.
 */
export function listJournals(store: string): RestoreJournal[] {
  const journals: RestoreJournal[] = []
  for (const name of readdirSync(join(store, "restores"))) {
    if (!name.endsWith(".json")) continue
    const journal = parseJournal(readFileSync(join(store, "restores", name), "utf8"))
    if (journal !== undefined) journals.push(journal)
  }
  return journals.sort((a, b) => a.startedAt - b.startedAt)
}

function parseJournal(text: string): RestoreJournal | undefined {
  try {
    const journal = JSON.parse(text)
    return typeof journal?.id === "string" && typeof journal.target === "string" ? journal : undefined
  } catch {
    return undefined
  }
}
