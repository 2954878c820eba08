/** Comparisons and file lists of snapshots, kept for a while, so that a page of one does not make it all again. */
import { randomUUID } from "node:crypto"
import {
  type Checkpoint,
  diffCheckpoints,
  listCheckpointFiles,
  type Runtime,
  type SnapshotChange,
  type SnapshotFile,
} from "@ku0/agent-runtime"

export interface Look {
  readonly id: string
  readonly changes: readonly SnapshotChange[]
}

export interface Looks {
  /** A comparison; the one a page before belonged to, if it is still there. */
  diff(from: Checkpoint, to: Checkpoint | "workspace", look?: string): Promise<Look>
  files(checkpoint: Checkpoint): Promise<readonly SnapshotFile[]>
}

const mostKept = 8

export function createLooks(runtime: Runtime): Looks {
  const diffs = new Map<string, Promise<Look>>()
  const lists = new Map<string, Promise<readonly SnapshotFile[]>>()

  return {
    async diff(from, to, look) {
      const isFixed = to !== "workspace"
      const pair = `${from.id} ${isFixed ? to.id : to}`
      if (look !== undefined || isFixed) {
        const known = diffs.get(isFixed ? pair : `${pair} ${look}`)
        if (known !== undefined) return await known
      }
      const id = isFixed ? pair : randomUUID()
      const made = diffCheckpoints(runtime, from, to).then((changes) => ({ id, changes }))
      keep(diffs, isFixed ? pair : `${pair} ${id}`, made)
      return await made
    },
    async files(checkpoint) {
      return await (lists.get(checkpoint.id) ?? keep(lists, checkpoint.id, listCheckpointFiles(runtime, checkpoint)))
    },
  }
}

/** The oldest goes when there are too many; a failure is not kept. */
function keep<Value>(kept: Map<string, Promise<Value>>, key: string, value: Promise<Value>): Promise<Value> {
  kept.set(key, value)
  for (const oldest of kept.keys()) if (kept.size > mostKept) kept.delete(oldest)
  value.catch(() => kept.delete(key))
  return value
}
