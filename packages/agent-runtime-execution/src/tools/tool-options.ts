/** What the file tools are handed. */
import type { FileContextHandle } from "../context/file-context-tracker.js"
import type { FileOperations } from "./file-operations.js"
import type { Workspace } from "./workspace-path.js"

export interface FileToolOptions {
  readonly workspace: Workspace
  /** Default: the files of this machine. */
  readonly files?: FileOperations
  /** Remembers what was read and written, and guards edits. Without it nothing is guarded. */
  readonly context?: FileContextHandle
}
