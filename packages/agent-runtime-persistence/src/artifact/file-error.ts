/** Turns what the file system throws into KeepupErrors that say what happened and what to do. */
import { type ErrorCode, isKeepupError, KeepupError } from "@ku0/agent-runtime-core"

interface FileErrorFacts {
  readonly code: ErrorCode
  readonly why: string
  readonly hint: string
}

const full: FileErrorFacts = {
  code: "UNAVAILABLE",
  why: "the disk is full",
  hint: "Free disk space and try again. Everything kept before is still there.",
}
const forbidden: FileErrorFacts = {
  code: "UNAVAILABLE",
  why: "permission is denied",
  hint: "Check the owner and the permissions of the folder.",
}
const misplaced: FileErrorFacts = {
  code: "INVALID_INPUT",
  why: "something else has that name",
  hint: "Move away what stands in the place of the file or of its folder.",
}
const exhausted: FileErrorFacts = {
  code: "UNAVAILABLE",
  why: "too many files are open",
  hint: "Close other programs or raise the limit of open files, then try again.",
}

const table: Readonly<Record<string, FileErrorFacts>> = {
  ENOSPC: full,
  EDQUOT: { ...full, why: "the disk quota is used up" },
  EROFS: { code: "UNAVAILABLE", why: "the disk is read-only", hint: "Mount it for writing, or name another folder." },
  EACCES: forbidden,
  EPERM: forbidden,
  EIO: { code: "UNAVAILABLE", why: "the disk fails", hint: "Check the disk and its cable or network." },
  EMFILE: exhausted,
  ENFILE: exhausted,
  ENOTDIR: misplaced,
  EISDIR: misplaced,
  EEXIST: misplaced,
  ENOTEMPTY: misplaced,
  ENAMETOOLONG: { code: "INVALID_INPUT", why: "the name is too long", hint: "Choose a shorter name." },
  ENOENT: { code: "NOT_FOUND", why: "it is not there", hint: "Check the path." },
}

/** `action` is what could not be done: "write /a/b". What is not a known file system error passes unchanged. */
export function fromFileError(error: unknown, action: string): unknown {
  if (isKeepupError(error)) return error
  const code = findErrorCode(error)
  const facts = code === undefined || !Object.hasOwn(table, code) ? undefined : table[code]
  if (facts === undefined) return error
  return new KeepupError(facts.code, `Can't ${action}: ${facts.why} (${code}).`, {
    hint: facts.hint,
    details: { system: code },
    cause: error,
  })
}

/** The system's own code, such as `ENOENT`, of something thrown. */
export function findErrorCode(error: unknown): string | undefined {
  const code = typeof error === "object" && error !== null ? (error as { code?: unknown }).code : undefined
  return typeof code === "string" ? code : undefined
}
