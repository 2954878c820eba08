/**
 * The text of a snapshot's commit: what the caller says, then lines that hold what a git tree can't: empty folders,
 * which files are private, what was skipped and why, and the snapshot before it.
 */
import type { SkipReason } from "@ku0/agent-runtime-core"
import { type BytePath, escapePath, unescapePath } from "./byte-path.js"
import type { PrivateMarks } from "./private-files.js"

export interface SnapshotFacts {
  readonly message: string
  readonly base: string | null
  readonly emptyFolders: readonly BytePath[]
  readonly privateMarks: PrivateMarks
  readonly skipped: ReadonlyMap<BytePath, SkipReason>
  /** Milliseconds; the commit itself knows seconds only. */
  readonly createdAt: number
  /** How many files the tree has, where that is known. */
  readonly files?: number | undefined
}

const mark = "Keepup-Snapshot: 1"

export function formatSnapshotMessage(facts: SnapshotFacts): string {
  const lines = [facts.message.trimEnd(), "", mark, `Keepup-Created: ${facts.createdAt}`]
  if (facts.files !== undefined) lines.push(`Keepup-Files: ${facts.files}`)
  if (facts.base !== null) lines.push(`Keepup-Base: ${facts.base}`)
  for (const path of facts.emptyFolders) lines.push(`Keepup-Empty: ${escapePath(path)}`)
  for (const [path, isPrivate] of facts.privateMarks)
    lines.push(`Keepup-${isPrivate ? "Private" : "Open"}: ${escapePath(path)}`)
  for (const [path, reason] of facts.skipped) lines.push(`Keepup-Skipped: ${reason} ${escapePath(path)}`)
  return `${lines.join("\n")}\n`
}

/** Understands every commit: one that keepup did not write simply has no facts. */
export function parseSnapshotMessage(text: string): SnapshotFacts {
  const at = text.lastIndexOf(`\n${mark}\n`)
  const facts = {
    message: at < 0 ? text : text.slice(0, at).trimEnd(),
    base: null as string | null,
    createdAt: 0,
    files: undefined as number | undefined,
  }
  const emptyFolders: BytePath[] = []
  const privateMarks = new Map<BytePath, boolean>()
  const skipped = new Map<BytePath, SkipReason>()
  for (const line of at < 0 ? [] : text.slice(at + mark.length + 2).split("\n")) {
    const [name, first, second] = line.split(" ")
    if (name === "Keepup-Created:") facts.createdAt = Number(first)
    else if (name === "Keepup-Files:") facts.files = Number(first)
    else if (name === "Keepup-Base:") facts.base = first ?? null
    else if (name === "Keepup-Empty:") emptyFolders.push(unescapePath(first ?? ""))
    else if (name === "Keepup-Private:") privateMarks.set(unescapePath(first ?? ""), true)
    else if (name === "Keepup-Open:") privateMarks.set(unescapePath(first ?? ""), false)
    else if (name === "Keepup-Skipped:") skipped.set(unescapePath(second ?? ""), first as SkipReason)
  }
  return { ...facts, emptyFolders, privateMarks, skipped }
}
