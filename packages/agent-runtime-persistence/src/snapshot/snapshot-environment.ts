/** What every part of an open snapshot store works with. */
import type { Clock } from "@ku0/agent-runtime-core"
import type { Git } from "./git-process.js"
import type { IgnoreRules } from "./ignore-rules.js"
import type { ObjectReader } from "./object-reader.js"
import type { OwnFiles } from "./own-files.js"
import type { RefStore } from "./refs.js"
import type { ScanState } from "./scan-state.js"
import type { SyncDisk } from "./sync-disk.js"
import type { UserRepository } from "./user-repository.js"
import type { WorkspaceFiles } from "./workspace-files.js"

export interface SnapshotEnvironment {
  /** The shadow repository. */
  readonly store: string
  readonly packFolder: string
  readonly git: Git
  readonly reader: ObjectReader
  readonly refs: RefStore
  readonly files: WorkspaceFiles
  /** There was no workspace when the store was opened: what was found of its rules then must never be used. */
  readonly isGone: boolean
  readonly clock: Clock
  /** The machine's own time: file times are compared with it. */
  readonly now: () => number
  readonly repository: UserRepository | undefined
  readonly userConfig: ReadonlyMap<string, string>
  /** Where the user's attributes for all repositories are, there or not. */
  readonly attributesFile: string | undefined
  readonly own: OwnFiles
  readonly syncDisk: SyncDisk
  readonly readRules: () => Promise<IgnoreRules>
  /** The last complete state on disk, or a fresh one. */
  readonly loadState: () => ScanState
  /** Named steps, for tests that stop a process between them. */
  readonly step: (name: string) => void
  readonly onProgress?: (done: number, total: number, what?: string) => void
}
