/**
 * Knows which files each context (an agent, a sub-agent) has read or written, and what they held then. A file is stale
 * when its content is another one now; its times do not matter. The watcher only warns early: whoever edits asks again.
 */
import { relative, sep } from "node:path"
import type { Clock, EventBus } from "@ku0/agent-runtime-core"
import { type Logger, silentLogger } from "@ku0/agent-runtime-telemetry"
import { canonicalPath, hashContent, hashFile } from "./content-hash.js"
import {
  type FileContextEntry,
  type FileContextSource,
  type FileContextState,
  parseFileContextState,
} from "./file-context-entry.js"
import { createFolderWatch } from "./watch-folders.js"

export interface CreateFileContextTrackerOptions {
  readonly workspacePath: string
  /** Hears `context:file-stale`, once for each file and context until the file is read again. */
  readonly eventBus?: Pick<EventBus, "emit">
  /** Whether to watch for early warnings. Default: true. */
  readonly watch?: boolean
  /** How long a file must be quiet before the watcher looks at it. Default: 100 ms. */
  readonly settleMs?: number
  /** What an earlier process kept. */
  readonly state?: unknown
  readonly clock?: Clock
  readonly logger?: Logger
}

/** One context's view. Paths may be absolute or relative to the workspace. */
export interface FileContextHandle {
  readonly contextId: string
  /** The context knows the file as it is, or with the content it was shown. */
  markRead(path: string, content?: Uint8Array | string): FileContextEntry
  /** The context wrote the file, with this content if given. */
  markWrite(path: string, content?: Uint8Array | string): FileContextEntry
  /** Somebody spoke of the file: changes are told, what was known before stays. */
  markMentioned(path: string): FileContextEntry
  /** The context is about to write this content: until `markWrite` or `cancelWrite` it raises no alarm. */
  beginWrite(path: string, content: Uint8Array | string): void
  cancelWrite(path: string): void
  /** Looks at the file now. A file the context does not know is not stale. */
  isStale(path: string): boolean
  getEntry(path: string): FileContextEntry | undefined
  /** Looks at every file the context knows. */
  listStale(): FileContextEntry[]
}

export interface FileContextTracker {
  getHandle(contextId?: string): FileContextHandle
  /** Looks at these files, or all, in every context, and tells who is stale. For whoever changed files: a restore. */
  check(paths?: readonly string[]): Promise<void>
  exportState(): FileContextState
  /** The state if it changed since the last call. */
  takeChange(): FileContextState | undefined
  /** Resolves when the watcher watches. */
  waitForReady(): Promise<void>
  /** Stops watching; resolves when every warning is out. */
  dispose(): Promise<void>
}

/** The most a context remembers; the oldest entries go first. */
const maxEntries = 1_000

export function createFileContextTracker(options: CreateFileContextTrackerOptions): FileContextTracker {
  const { clock = { now: () => Date.now() }, logger = silentLogger, settleMs = 100 } = options
  const root = canonicalPath("/", options.workspacePath)
  const contexts = new Map<string, Map<string, FileContextEntry>>()
  const writing = new Map<string, string>()
  const emitting = new Set<Promise<unknown>>()
  let isChanged = false
  const folders = options.watch === false ? undefined : createFolderWatch((path) => checkFile(path), settleMs)

  const entriesOf = (contextId: string): Map<string, FileContextEntry> => {
    const entries = contexts.get(contextId) ?? new Map()
    contexts.set(contextId, entries)
    return entries
  }
  const writeKey = (contextId: string, path: string): string => JSON.stringify([contextId, path])

  function keep(contextId: string, entry: FileContextEntry): FileContextEntry {
    const entries = entriesOf(contextId)
    entries.delete(entry.absolutePath)
    entries.set(entry.absolutePath, entry)
    for (const oldest of entries.keys()) {
      if (entries.size <= maxEntries) break
      entries.delete(oldest)
    }
    isChanged = true
    return entry
  }

  function mark(
    contextId: string,
    path: string,
    source: FileContextSource,
    hash: string | undefined,
  ): FileContextEntry {
    const absolutePath = canonicalPath(root, path)
    const before = entriesOf(contextId).get(absolutePath)
    folders?.add(absolutePath)
    const now = clock.now()
    return keep(contextId, {
      ...before,
      path: relative(root, absolutePath).split(sep).join("/"),
      absolutePath,
      status: "active",
      recordSource: source,
      hash: hash ?? hashFile(absolutePath),
      ...(source === "read_tool" ? { lastReadAt: now } : {}),
      ...(source === "write_tool" ? { lastWriteAt: now } : {}),
    })
  }

  /** Compares with the disk; tells once when it begins to differ, and takes it back when it is as before. */
  function check(contextId: string, entry: FileContextEntry, hash: string): boolean {
    if (hash === entry.hash || hash === writing.get(writeKey(contextId, entry.absolutePath))) {
      if (entry.status === "stale") keep(contextId, { ...entry, status: "active" })
      return false
    }
    if (entry.status === "active") {
      const lastExternalEditAt = clock.now()
      tell(contextId, keep(contextId, { ...entry, status: "stale", recordSource: "external_edit", lastExternalEditAt }))
    }
    return true
  }

  function checkFile(absolutePath: string): void {
    const hash = hashFile(absolutePath)
    for (const [contextId, entries] of contexts) {
      const entry = entries.get(absolutePath)
      if (entry !== undefined) check(contextId, entry, hash)
    }
  }

  function tell(contextId: string, entry: FileContextEntry): void {
    if (options.eventBus === undefined) return
    const { hash: _hash, status: _status, ...facts } = entry
    const told = options.eventBus
      .emit("context:file-stale", { contextId, ...facts, status: "stale" })
      .catch((error: unknown) =>
        logger.error("a stale file could not be told", { path: entry.path, error: String(error) }),
      )
      .finally(() => emitting.delete(told))
    emitting.add(told)
  }

  function createHandle(contextId: string): FileContextHandle {
    const find = (path: string): FileContextEntry | undefined => entriesOf(contextId).get(canonicalPath(root, path))
    const hashOf = (content: Uint8Array | string | undefined): string | undefined =>
      content === undefined ? undefined : hashContent(content)
    const isStale = (entry: FileContextEntry): boolean => check(contextId, entry, hashFile(entry.absolutePath))
    return {
      contextId,
      markRead: (path, content) => mark(contextId, path, "read_tool", hashOf(content)),
      markWrite(path, content) {
        const entry = mark(contextId, path, "write_tool", hashOf(content))
        writing.delete(writeKey(contextId, entry.absolutePath))
        // Whoever else knows the file, knows an old one now.
        checkFile(entry.absolutePath)
        return find(path) ?? entry
      },
      markMentioned: (path) => mark(contextId, path, "file_mentioned", find(path)?.hash),
      beginWrite: (path, content) =>
        void writing.set(writeKey(contextId, canonicalPath(root, path)), hashContent(content)),
      cancelWrite: (path) => void writing.delete(writeKey(contextId, canonicalPath(root, path))),
      isStale(path) {
        const entry = find(path)
        return entry !== undefined && isStale(entry)
      },
      getEntry: find,
      listStale: () =>
        [...entriesOf(contextId).values()].flatMap((entry) => {
          const stale = isStale(entry) ? entriesOf(contextId).get(entry.absolutePath) : undefined
          return stale === undefined ? [] : [stale]
        }),
    }
  }

  const toState = (): FileContextState => ({
    version: 1,
    contexts: Object.fromEntries(
      [...contexts].map(([id, entries]) => [id, [...entries.values()].map(({ absolutePath: _, ...entry }) => entry)]),
    ),
  })

  if (options.state !== undefined) {
    for (const [contextId, list] of Object.entries(parseFileContextState(options.state).contexts)) {
      for (const entry of list) {
        const absolutePath = canonicalPath(root, entry.path)
        entriesOf(contextId).set(absolutePath, { ...entry, absolutePath })
        folders?.add(absolutePath)
      }
    }
  }

  return {
    getHandle: (contextId = "default") => createHandle(contextId),
    async check(paths) {
      const known = new Set([...contexts.values()].flatMap((entries) => [...entries.keys()]))
      for (const path of paths?.map((one) => canonicalPath(root, one)) ?? known) checkFile(path)
      await Promise.all(emitting)
    },
    exportState: toState,
    takeChange() {
      if (!isChanged) return undefined
      isChanged = false
      return toState()
    },
    waitForReady: async () => undefined,
    async dispose() {
      folders?.close()
      await Promise.all(emitting)
    },
  }
}
