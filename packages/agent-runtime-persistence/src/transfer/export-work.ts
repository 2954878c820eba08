/** What every part of an export works with. */
import type { SessionId } from "@ku0/agent-runtime-core"
import type { SnapshotStore } from "../snapshot/snapshot-store.js"
import type { Store } from "../store/open-store.js"
import { createRedactor, type Redactor } from "./redactor.js"
import { emptyCounts, type RecordName, type TransferCounts } from "./transfer-format.js"

export interface TransferContext {
  readonly store: Store
  /** The snapshots of a workspace. Without it, no files travel. */
  readonly snapshots?: (workspacePath: string) => Promise<SnapshotStore>
}

export interface ExportOptions {
  readonly sessionId: SessionId
  /** Take secrets out of messages, state, artifacts and logs. The files of the checkpoints are then left out. */
  readonly redact?: boolean
  /** False: leave the files of the checkpoints out. */
  readonly snapshots?: boolean
  /** Records written so far. Must not throw. */
  readonly onProgress?: (done: number) => void
  /** Stops it, and its reason is thrown: no file is left. */
  readonly signal?: AbortSignal
}

/** What was left out of an export, and why. */
export interface LeftOut {
  readonly what: string
  readonly reason: string
}

export interface ExportReport {
  readonly counts: TransferCounts
  readonly leftOut: readonly LeftOut[]
  /** Secrets that were replaced. */
  readonly redactions: number
}

export interface ExportWork extends TransferContext {
  readonly options: ExportOptions
  readonly redactor: Redactor | undefined
  readonly withFiles: boolean
  readonly report: { readonly counts: Record<RecordName, number>; readonly leftOut: LeftOut[] }
  /** Commits of the checkpoints in the file. */
  readonly commits: Set<string>
}

export function createExportWork(context: TransferContext, options: ExportOptions): ExportWork {
  const isRedacted = options.redact === true
  return {
    store: context.store,
    ...(context.snapshots && { snapshots: context.snapshots }),
    options,
    redactor: isRedacted ? createRedactor() : undefined,
    withFiles: !isRedacted && options.snapshots !== false && context.snapshots !== undefined,
    report: { counts: emptyCounts(), leftOut: [] },
    commits: new Set(),
  }
}
