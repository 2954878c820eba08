/** What a context remembers about one file, and how that is kept as plain JSON. */
import { KeepupError } from "@ku0/agent-runtime-core"

export const fileContextSources = ["read_tool", "write_tool", "file_mentioned", "external_edit"] as const

export type FileContextSource = (typeof fileContextSources)[number]

export interface FileContextEntry {
  /** From the workspace, with forward slashes. */
  readonly path: string
  /** Without links. */
  readonly absolutePath: string
  readonly status: "active" | "stale"
  readonly recordSource: FileContextSource
  /** SHA-256 of what the context knows the file to hold, or `absent`. */
  readonly hash: string
  readonly lastReadAt?: number
  readonly lastWriteAt?: number
  readonly lastExternalEditAt?: number
}

/** The value of state key `fileContext`. */
export interface FileContextState {
  readonly version: 1
  readonly contexts: Readonly<Record<string, readonly Omit<FileContextEntry, "absolutePath">[]>>
}

/** Accepts a kept state, or throws `INVALID_INPUT`. */
export function parseFileContextState(value: unknown): FileContextState {
  const state = value as FileContextState | null | undefined
  const lists = Object.values(state?.contexts ?? {})
  const isState =
    state?.version === 1 &&
    typeof state.contexts === "object" &&
    lists.every((list) => Array.isArray(list) && list.every(isEntry))
  if (isState) return state
  throw new KeepupError("INVALID_INPUT", "This is not a kept file context.", {
    hint: "Leave it out: files then count as not read.",
  })
}

function isEntry(value: unknown): boolean {
  const entry = value as FileContextEntry | null
  return (
    typeof entry?.path === "string" &&
    typeof entry.hash === "string" &&
    (entry.status === "active" || entry.status === "stale") &&
    fileContextSources.includes(entry.recordSource)
  )
}
