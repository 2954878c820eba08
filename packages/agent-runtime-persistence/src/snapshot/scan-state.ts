/**
 * What the last snapshot knew, so that the next one need not look at everything: which index file git scans with, the
 * tree it stands for, and what differed from it. All of it can be lost: then everything is looked at again.
 */
import { createHash } from "node:crypto"
import { closeSync, openSync, readFileSync, readSync } from "node:fs"
import { join } from "node:path"
import type { SkipReason } from "@ku0/agent-runtime-core"
import { randomHex } from "../store/lazy-crypto.js"
import type { BytePath } from "./byte-path.js"
import {
  createDirectoryTable,
  type DirectoryTable,
  formatDirectoryTable,
  parseDirectoryTable,
} from "./directory-table.js"
import { overwriteCache } from "./durable-file.js"
import type { FileStat } from "./file-stat.js"
import type { WritableEntry } from "./git-index.js"
import { emptyTree } from "./git-objects.js"
import type { IgnoreAnswers } from "./walk-folders.js"

/** A path whose present content is not what the index says. */
export interface KnownFile {
  readonly mode: string
  readonly id: string
  readonly stat: FileStat
  /** When it was looked at, in milliseconds. */
  readonly seenAt: number
}

/** The path is not in the last snapshot: it is gone, or it is there but left out by a rule. */
export type Overlay = KnownFile | "gone" | "ignored"

export interface ScanState {
  /** Name of the index file in the store, or null before the first one. */
  indexFile: string | null
  /** Reads the entries of the first index, until it is written. */
  seed?: () => readonly WritableEntry[]
  /** The tree whose files the index lists. */
  indexTree: string
  lastCommit: string | null
  lastTree: string
  /** Files in the last tree. */
  fileCount: number
  overlay: Map<BytePath, Overlay>
  /** How often paths of the overlay were looked at since the index was written. */
  looks: number
  /** Looked at again each time: they are in no index. */
  skipped: Map<BytePath, SkipReason>
  /** Which files of the last snapshot are private, as far as they were looked at. */
  privateMarks: Map<BytePath, boolean>
  /** Ignored, but tracked by the user's git. */
  forced: Set<BytePath>
  /** Which index of the user `forced` was read from. */
  userIndex: string
  rules: string
  /** Ignore files that are left out themselves; "" for one too young to be trusted. */
  hiddenRules: Map<BytePath, FileStat>
  directories: DirectoryTable
  /** What git said about names it may ignore, as long as no rule changes. Not saved. */
  answers: IgnoreAnswers
}

export function createScanState(): ScanState {
  return {
    indexFile: null,
    indexTree: emptyTree,
    lastCommit: null,
    lastTree: emptyTree,
    fileCount: 0,
    overlay: new Map(),
    looks: 0,
    skipped: new Map(),
    privateMarks: new Map(),
    forced: new Set(),
    userIndex: "",
    rules: "",
    hiddenRules: new Map(),
    directories: createDirectoryTable(),
    answers: new Map(),
  }
}

const stateFile = "scan-state"
const directoriesFile = "scan-directories"

/** Changes whenever a state is saved. */
export function stateVersion(store: string): string {
  let descriptor: number | undefined
  try {
    descriptor = openSync(join(store, stateFile), "r")
    const head = Buffer.alloc(checksumLength)
    readSync(descriptor, head, 0, head.length, 0)
    return head.toString("latin1")
  } catch {
    return "none"
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** The saved state, or undefined when there is none or it is damaged. */
export function loadScanState(store: string): ScanState | undefined {
  try {
    const body = openSealed(readFileSync(join(store, stateFile), "latin1"))
    if (body === undefined) return undefined
    const { stamp: _, ...saved } = JSON.parse(body)
    return {
      ...saved,
      overlay: new Map(saved.overlay),
      looks: saved.looks ?? 0,
      skipped: new Map(saved.skipped),
      privateMarks: new Map(saved.privateMarks), // an older state has none: what it saw is not known to be private
      forced: new Set(saved.forced),
      hiddenRules: new Map(saved.hiddenRules),
      directories: loadDirectories(store, saved.rules),
      answers: new Map(),
    }
  } catch {
    return undefined
  }
}

/**
 * An older table is as good as a new one: folders that changed since are read again. One made under other rules is
 * not: it misses folders.
 */
function loadDirectories(store: string, rules: string): DirectoryTable {
  try {
    const body = openSealed(readFileSync(join(store, directoriesFile), "latin1"))
    if (!body?.startsWith(`${rules}\n`)) return createDirectoryTable()
    const table = parseDirectoryTable(body.slice(rules.length + 1))
    saved.set(table, `${rules}\n${table.version}`)
    return table
  } catch {
    return createDirectoryTable()
  }
}

/** What of each table is on disk. A table belongs to one open store; another process's save makes it load a new one. */
const saved = new WeakMap<DirectoryTable, string>()

/** Tables that are about to be saved, as they will be written. */
const prepared = new WeakMap<DirectoryTable, { readonly version: string; readonly data: Buffer }>()

/** Does what takes longest of saving a state, without writing anything. */
export function prepareScanState(state: ScanState): void {
  const { directories } = state
  const version = versionOf(state)
  if (saved.get(directories) === version) return
  prepared.set(directories, { version, data: seal(`${state.rules}\n${formatDirectoryTable(directories)}`) })
}

function versionOf({ rules, directories }: ScanState): string {
  return `${rules}\n${directories.version}`
}

/** Only a snapshot that is complete and durable may save what it saw. */
export function saveScanState(store: string, state: ScanState): void {
  const { directories } = state
  const version = versionOf(state)
  if (saved.get(directories) !== version) {
    if (prepared.get(directories)?.version !== version) prepareScanState(state)
    overwriteCache(join(store, directoriesFile), prepared.get(directories)?.data as Buffer)
    saved.set(directories, version)
  }
  prepared.delete(directories)
  const { directories: _table, answers: _answers, seed: _seed, ...kept } = state
  const { overlay, skipped, privateMarks, forced, hiddenRules, ...rest } = kept
  const maps = {
    overlay: [...overlay],
    skipped: [...skipped],
    privateMarks: [...privateMarks],
    hiddenRules: [...hiddenRules],
  }
  const stamp = randomHex(8) // no two of them have the same checksum
  const body = JSON.stringify({ stamp, ...rest, ...maps, forced: [...forced] })
  overwriteCache(join(store, stateFile), seal(body))
}

const checksumLength = 40

function seal(body: string): Buffer {
  return Buffer.from(`${checksum(body)}\n${body}`, "latin1")
}

function openSealed(text: string): string | undefined {
  const body = text.slice(checksumLength + 1)
  return text.slice(0, checksumLength) === checksum(body) ? body : undefined
}

function checksum(text: string): string {
  return createHash("sha1").update(text, "latin1").digest("hex")
}
