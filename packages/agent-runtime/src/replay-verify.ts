/**
 * Goes through a recorded history again with the tools run for real, in a scratch copy of the workspace, and compares:
 * every result with the recorded one, and the files at the end with those of the last checkpoint. The model's answers
 * are those of the log. The user's workspace, the store and the session are only read: commands run behind a wall.
 */
import { mkdtemp, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Checkpoint, KeepupError } from "@ku0/agent-runtime-core"
import {
  listCheckpointFiles,
  openSnapshotStore,
  replayHistory,
  type SnapshotFile,
  writeCheckpointFiles,
} from "@ku0/agent-runtime-persistence"
import type { Runtime } from "./open-runtime.js"
import { type CallDifference, createCallReplay, type OutsideCall, type SkippedCall } from "./replay-calls.js"

export interface ReplayVerifyOptions {
  /** Where it begins: the scratch copy has its files. */
  readonly from: Checkpoint
  /** Where it ends. Default: the newest checkpoint of the session that holds files. */
  readonly to?: Checkpoint
  /** Where the copy is made, and left: a folder that is empty or not there. Default: a temporary one, removed again. */
  readonly scratchFolder?: string
  /** Asked about each call that can reach outside of the copy (a command, another agent). Without it none of them runs. */
  readonly approve?: (call: OutsideCall) => boolean | Promise<boolean>
  /**
   * True: approved commands run also where the system has no wall for them (it takes Linux with mount namespaces). Then
   * only their words lead into the copy, and a path they come by otherwise leads into the workspace.
   */
  readonly runUncontained?: boolean
  readonly signal?: AbortSignal
}

export interface FileDifferences {
  /** Only in the copy. */
  readonly added: readonly string[]
  readonly changed: readonly string[]
  /** Only in the record. */
  readonly missing: readonly string[]
}

export interface VerifiedReplay {
  readonly from: Checkpoint
  /** The checkpoint the files were compared with; `undefined` if none behind `from` holds files. */
  readonly to: Checkpoint | undefined
  /** No result and no file differs. With skipped calls that says less: see there. */
  readonly isFaithful: boolean
  /** Calls that ran and were compared. */
  readonly calls: number
  readonly differences: readonly CallDifference[]
  /** Calls of the record that did not run here, and why. What they did to files is missing from the copy. */
  readonly skipped: readonly SkippedCall[]
  readonly files: FileDifferences
  /** Files of the workspace that somebody changed while commands ran here. Behind the wall it was not them. */
  readonly workspaceChanges: readonly string[]
}

export async function replayVerify(runtime: Runtime, options: ReplayVerifyOptions): Promise<VerifiedReplay> {
  const { from, signal = new AbortController().signal } = options
  const to = options.to ?? (await findEnd(runtime, from))
  const { workspacePath } = await runtime.store.sessions.get(from.sessionId)
  const own = await realpath(await mkdtemp(join(tmpdir(), "keepup-replay-")))
  try {
    const scratch = options.scratchFolder ?? join(own, "workspace")
    await writeCheckpointFiles(runtime, from, scratch)
    const replay = await createCallReplay(runtime, {
      at: { sessionId: from.sessionId, seq: from.entrySeq },
      workspacePath,
      scratch: await realpath(scratch),
      signal,
      wallFolder: join(own, "wall"),
      ...(options.approve && { approve: options.approve }),
      ...(options.runUncontained !== undefined && { runUncontained: options.runUncontained }),
    })
    for await (const entry of replayHistory(runtime.store, { from, signal, ...(to && { to }) })) {
      await replay.hear(entry)
    }
    const { calls, differences, skipped, workspaceChanges } = await replay.end()
    const files = to === undefined ? noFiles : await compareFiles(runtime, to, scratch, join(own, "state"))
    const isFaithful = differences.length === 0 && Object.values(files).every(({ length }) => length === 0)
    return { from, to, isFaithful, calls, differences, skipped, files, workspaceChanges }
  } finally {
    await rm(own, { recursive: true, force: true, maxRetries: 3 })
  }
}

const noFiles: FileDifferences = { added: [], changed: [], missing: [] }

async function findEnd({ store }: Runtime, from: Checkpoint): Promise<Checkpoint | undefined> {
  const checkpoints = await store.checkpoints.list(from.sessionId, { limit: 1_000 })
  return checkpoints.find(({ number, snapshot }) => snapshot !== null && number > from.number)
}

/** The copy is captured by the same rules as the workspace was, into a store of its own. */
async function compareFiles(
  runtime: Runtime,
  to: Checkpoint,
  scratch: string,
  stateDirectory: string,
): Promise<FileDifferences> {
  if (to.snapshot === null) {
    throw new KeepupError("INVALID_INPUT", `Checkpoint #${to.number} holds no files to compare with.`, {
      hint: "Name one that does: `keepup checkpoint list` shows them.",
    })
  }
  const expected = byPath(await listCheckpointFiles(runtime, to))
  const { config, environment, store } = runtime
  const snapshots = await openSnapshotStore({
    workspacePath: scratch,
    stateDirectory,
    environment,
    clock: store.context.clock,
    capture: { include: config["capture.include"], maxFileSize: config["capture.maxFileSize"] },
  })
  try {
    const { commit } = await snapshots.capture({ message: "replay" })
    const got = byPath(await snapshots.listFiles(commit))
    return {
      added: [...got.keys()].filter((path) => !expected.has(path)),
      changed: [...got.keys()].filter((path) => expected.has(path) && expected.get(path) !== got.get(path)),
      missing: [...expected.keys()].filter((path) => !got.has(path)),
    }
  } finally {
    await snapshots.close()
  }
}

function byPath(files: readonly SnapshotFile[]): Map<string, string> {
  return new Map(files.map(({ path, mode, id }) => [path, `${mode} ${id}`]))
}
