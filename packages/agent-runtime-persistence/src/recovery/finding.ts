/** What a check of a store found: one line each, for people and for `repairStore`. */
import { toKeepupError } from "@ku0/agent-runtime-core"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"

export type FindingCode =
  | "database-damaged"
  | "index-damaged"
  | "log-cut"
  | "log-damaged"
  | "foreign-key-broken"
  | "sequence-gap"
  | "head-wrong"
  | "lost-parent"
  | "message-index-wrong"
  | "entry-unreadable"
  | "entry-changed"
  | "history-broken"
  | "phase-wrong"
  | "counter-wrong"
  | "row-unreadable"
  | "row-changed"
  | "checkpoint-without-entry"
  | "checkpoint-lost"
  | "value-missing"
  | "value-damaged"
  | "artifact-damaged"
  | "workspace-missing"
  | "ref-missing"
  | "snapshot-missing"
  | "snapshot-damaged"
  | "ref-unowned"
  | "restore-unfinished"
  | "note-left"
  | "session-interrupted"
  | "rewind-unfinished"
  | "import-unfinished"
  | "lease-stale"
  | "rubbish-left"
  | "mode-open"

export interface Finding {
  readonly code: FindingCode
  /** `error`: something is lost or wrong. `warning`: something should be looked at. `info`: a crash left it, no harm done. */
  readonly severity: "error" | "warning" | "info"
  /** One sentence. */
  readonly what: string
  /** The session, checkpoint, entry, workspace or file it is about. */
  readonly where: string
  /** Whether `repairStore` can mend it without guessing. */
  readonly canRepair: boolean
}

export interface CheckStoreOptions {
  /** Looked through for modes that are too open. */
  readonly stateDirectory?: string
  /** Parts checked so far, of how many, and which comes now. Must not throw. */
  readonly onProgress?: (done: number, total: number, part: string) => void
}

export type Check = (context: TimeTravelContext, options: CheckStoreOptions) => Promise<Finding[]>

const severities: Partial<Record<FindingCode, Finding["severity"]>> = {
  "workspace-missing": "warning",
  "log-cut": "warning",
  "mode-open": "warning",
  "note-left": "info",
  "ref-unowned": "info",
  "session-interrupted": "info",
  "rewind-unfinished": "info",
  "import-unfinished": "info",
  "lease-stale": "info",
  "rubbish-left": "info",
}

export function finding(code: FindingCode, where: string, what: string, canRepair = false): Finding {
  return { code, severity: severities[code] ?? "error", what, where, canRepair }
}

/**
 * Runs a part of a check; whatever stops it becomes a finding, and the other parts go on: in a damaged store a row may
 * hold anything, and a folder may be a file.
 */
export async function guarded(
  code: FindingCode,
  where: string,
  work: () => Promise<readonly Finding[]>,
): Promise<Finding[]> {
  try {
    return [...(await work())]
  } catch (error) {
    return [finding(code, where, toKeepupError(error).message)]
  }
}
