/**
 * `ShadowCheckpointService`: checkpoints of one task's files by commit. A thin layer over the snapshot store that all
 * tasks of a workspace share; a task's checkpoints are refs, so they survive a restart.
 */

import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { type Clock, KeepupError } from "@ku0/agent-runtime-core"
import type { Logger } from "@ku0/agent-runtime-telemetry"
import { randomHex } from "../store/lazy-crypto.js"
import { makeFolder, replaceFile } from "./durable-file.js"
import { openSnapshotStore, type SnapshotStore } from "./snapshot-store.js"
import { findRealFolder, findRealPlace } from "./workspace-root.js"

export interface ShadowCheckpointServiceOptions {
  readonly taskId: string
  readonly workspacePath: string
  readonly storagePath: string
  readonly logger?: Pick<Logger, "info">
  /** Handed to git without any `GIT_*`; by default git is looked for where the system keeps programs. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly homeDirectory?: string
  readonly clock?: Clock
}

/** Whether a checkpoint of a snapshot store is one of a task, which no database knows of. */
export function isTaskCheckpoint(id: string): boolean {
  return /^(before-)?task-/.test(id)
}

export interface ShadowCheckpoint {
  readonly commit: string
  /** The task's first commit. */
  readonly base: string
  readonly message: string
  readonly createdAt: number
}

export interface ShadowDiffEntry {
  readonly path: { readonly relative: string; readonly absolute: string }
  readonly content: { readonly before: string; readonly after: string }
  /** The commit the entry can be restored to. */
  readonly commit: string
}

export class ShadowCheckpointService {
  readonly #options: ShadowCheckpointServiceOptions
  readonly #clock: Clock
  #opened: Promise<{ store: SnapshotStore; created: boolean }> | undefined
  #checkpoints: ShadowCheckpoint[] = []
  #lastSave: Promise<unknown> = Promise.resolve()

  constructor(options: ShadowCheckpointServiceOptions) {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(options.taskId)) {
      throw new KeepupError("INVALID_INPUT", `Not a usable task id: ${JSON.stringify(options.taskId)}.`)
    }
    this.#options = { ...options, workspacePath: resolve(options.workspacePath) }
    this.#clock = options.clock ?? { now: () => Date.now() }
  }

  /** Opens the store and takes the task's first checkpoint, once. */
  async init(): Promise<{ created: boolean; baseHash: string }> {
    const { created } = await this.#open()
    return { created, baseHash: this.getBaseHash() }
  }

  /** Takes a checkpoint; null when nothing changed since the task's last one, unless empty ones are allowed. */
  saveCheckpoint(message: string, options: { allowEmpty?: boolean } = {}): Promise<ShadowCheckpoint | null> {
    const saved = this.#lastSave.then(() => this.#save(message, options))
    this.#lastSave = saved.catch(() => {})
    return saved
  }

  async #save(message: string, options: { allowEmpty?: boolean }): Promise<ShadowCheckpoint | null> {
    const { store } = await this.#open()
    // Another service of the same task may have saved meanwhile.
    if (this.#listMine(store).length !== this.#checkpoints.length)
      this.#checkpoints = await this.#readCheckpoints(store)
    const checkpointId = this.#newId(this.#checkpoints.length)
    const last = this.#checkpoints.at(-1)
    const request = { message, checkpointId, exact: true }
    const snapshot =
      options.allowEmpty === true || last === undefined
        ? await store.capture(request)
        : await store.captureIfChanged({ ...request, since: last.commit })
    if (snapshot === null) return null
    const base = this.#checkpoints[0]?.commit ?? snapshot.commit
    const checkpoint = { commit: snapshot.commit, base, message, createdAt: snapshot.createdAt }
    this.#checkpoints.push(checkpoint)
    this.#options.logger?.info("shadow checkpoint saved", { taskId: this.#options.taskId, commit: snapshot.commit })
    return checkpoint
  }

  /** What changed from one commit (the task's first by default) to another (the workspace as it is by default). */
  async getDiff(options: { from?: string; to?: string } = {}): Promise<ShadowDiffEntry[]> {
    const { store } = await this.#open()
    const from = options.from ?? this.getBaseHash()
    const read = async (id: string | undefined) =>
      id === undefined ? "" : (await store.readContent(id)).toString("utf8")
    const entries: ShadowDiffEntry[] = []
    for (const change of await store.diff(from, options.to ?? "workspace")) {
      const before = await read(change.before)
      const after = await read(change.after)
      if (change.from === undefined) entries.push(this.#entry(change.path, before, after, from))
      else entries.push(this.#entry(change.from, before, "", from), this.#entry(change.path, "", after, from))
    }
    return entries
  }

  /** Makes the workspace's files those of a commit. What they were before is kept in a safety snapshot. */
  async restoreCheckpoint(commit: string): Promise<void> {
    const { store } = await this.#open()
    const safetyCheckpointId = `before-${this.#prefix()}${this.#clock.now()}-${randomHex(4)}`
    const outcome = await store.restore(commit, { safetyCheckpointId })
    if (outcome.failed.length === 0) return
    throw new KeepupError("CONFLICT", `${outcome.failed.length} path(s) could not be restored.`, {
      details: { failed: outcome.failed, safety: outcome.safety.commit },
      hint: "The files as they were before are in the safety snapshot.",
    })
  }

  /** The task's first commit. Call `init` before. */
  getBaseHash(): string {
    const base = this.#checkpoints[0]?.commit
    if (base !== undefined) return base
    throw new KeepupError("INVALID_INPUT", "The shadow checkpoints are not open yet.", { hint: "Call init() first." })
  }

  /** Oldest first. */
  getCheckpoints(): readonly ShadowCheckpoint[] {
    return [...this.#checkpoints]
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined)
    this.#opened = undefined
    await opened?.store.close()
  }

  #open(): Promise<{ store: SnapshotStore; created: boolean }> {
    this.#opened ??= this.#openNow().catch((error) => {
      this.#opened = undefined
      throw error
    })
    return this.#opened
  }

  async #openNow(): Promise<{ store: SnapshotStore; created: boolean }> {
    const { storagePath, environment = {}, homeDirectory } = this.#options
    makeFolder(storagePath, 0o700)
    const place = this.#bind()
    // one that is gone is known by the path it had without links
    const workspacePath =
      findRealFolder(this.#options.workspacePath) === undefined ? place : this.#options.workspacePath
    const store = await openSnapshotStore({
      ...{ workspacePath, environment, clock: this.#clock, stateDirectory: storagePath },
      ...(homeDirectory === undefined ? {} : { homeDirectory }),
    })
    this.#checkpoints = await this.#readCheckpoints(store)
    const created = this.#checkpoints.length === 0
    if (created) {
      const message = "initial checkpoint"
      const { commit, createdAt } = await store.capture({
        message,
        checkpointId: this.#newId(0),
        exact: true,
      })
      this.#checkpoints = [{ commit, base: commit, message, createdAt }]
    }
    return { store, created }
  }

  /** By its number; those that two processes took at the same time differ in the rest. */
  #newId(number: number): string {
    return `${this.#prefix()}${String(number).padStart(6, "0")}-${randomHex(4)}`
  }

  /** Checkpoint id and commit, oldest first. */
  #listMine(store: SnapshotStore): [string, string][] {
    const prefix = this.#prefix()
    const isMine = (id: string) => id.startsWith(prefix) && /^\d{6,}(-[0-9a-f]{8})?$/.test(id.slice(prefix.length))
    return [...store.listCheckpoints()].filter(([id]) => isMine(id)).sort()
  }

  async #readCheckpoints(store: SnapshotStore): Promise<ShadowCheckpoint[]> {
    const mine = this.#listMine(store)
    const base = mine[0]?.[1] ?? ""
    const facts = await Promise.all(mine.map(([, commit]) => store.describe(commit)))
    return facts.map(({ commit, message, createdAt }) => ({ commit, base, message, createdAt }))
  }

  /** A task belongs to one workspace for good, however its path is written. Returns that path without links. */
  #bind(): string {
    const { taskId, workspacePath, storagePath } = this.#options
    const place = findRealPlace(workspacePath)
    const file = join(storagePath, "tasks", `${taskId}.json`)
    if (!existsSync(file)) {
      makeFolder(join(storagePath, "tasks"))
      replaceFile(file, `${JSON.stringify({ workspacePath: place })}\n`, { durable: true })
      return place
    }
    const bound = readBinding(file)
    if (bound === place || findRealPlace(bound) === place) return place
    throw new KeepupError("INVALID_INPUT", `Shadow checkpoint repo is bound to ${bound}, expected ${workspacePath}.`, {
      hint: "Use another task id for another workspace.",
    })
  }

  #prefix(): string {
    return `task-${this.#options.taskId}-`
  }

  #entry(path: string, before: string, after: string, commit: string): ShadowDiffEntry {
    return {
      path: { relative: path, absolute: join(this.#options.workspacePath, path) },
      content: { before, after },
      commit,
    }
  }
}

/** The workspace of a task, as it was written when the task began. */
function readBinding(file: string): string {
  const text = readFileSync(file, "utf8")
  let binding: { readonly workspacePath?: unknown } | null | undefined
  let cause: unknown
  try {
    binding = JSON.parse(text)
  } catch (error) {
    cause = error
  }
  if (typeof binding?.workspacePath === "string" && binding.workspacePath !== "") return binding.workspacePath
  throw new KeepupError("CORRUPT", `${file} can't be read: it names no workspace.`, {
    hint: "Remove it: the task's checkpoints are kept elsewhere, and the next start in its workspace writes it again.",
    cause,
  })
}
