/** The border for what stands in a file: a line → a record with the fields of the format, in their ranges, or `CORRUPT`. */
import {
  type CheckpointSnapshot,
  checkpointTriggers,
  type EntryRef,
  type GitFacts,
  KeepupError,
  normalizeEventName,
  sessionStatuses,
} from "@ku0/agent-runtime-core"
import { longestArtifactId } from "../artifact/artifact-store.js"
import { parseCheckpointName } from "../checkpoint/checkpoint-store.js"
import { isNestedDeeper } from "../store/json-depth.js"
import { largestTime } from "../store/largest-time.js"
import {
  type ChunkRecord,
  type DataRecord,
  type EndRecord,
  type HeaderRecord,
  limits,
  recordNames,
  transferFormat,
  transferVersion,
} from "./transfer-format.js"

type Fields = Readonly<Record<string, unknown>>

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const sha256 = /^[0-9a-f]{64}$/
const gitId = /^[0-9a-f]{40}$/

/** The first line. Another format is `INVALID_INPUT`, a newer one `STORE_TOO_NEW`. */
export function parseHeader(line: Buffer | undefined, path: string): HeaderRecord {
  const fields = line === undefined ? undefined : tryParse(line.toString("utf8"))
  if (!isObject(fields) || fields["format"] !== transferFormat) {
    throw new KeepupError("INVALID_INPUT", `${path} is not an exported session.`, {
      hint: "Give a file that `keepup session export` wrote.",
    })
  }
  const version = fields["version"]
  if (typeof version === "number" && version > transferVersion) {
    throw tooNew(`${path} has format`, version, transferVersion)
  }
  if (version !== transferVersion) throw bad("The header has no version.")
  time(fields, "createdAt")
  id(fields, "sessionId")
  for (const name of ["redacted", "snapshots"]) if (typeof fields[name] !== "boolean") throw wrong("header", name)
  return fields as unknown as HeaderRecord
}

export function parseRecord(line: Buffer): DataRecord | ChunkRecord | EndRecord {
  const json = line.toString("utf8")
  requireShallow(json, limits.depth)
  const fields = tryParse(json)
  if (!isObject(fields)) throw bad("A line is not a record.")
  const name = fields["record"]
  if (typeof name !== "string" || !Object.hasOwn(parsers, name)) throw bad("A line is not a known record.")
  ;(parsers as Readonly<Record<string, (fields: Fields) => void>>)[name]?.(fields)
  return fields as unknown as DataRecord
}

/** JSON of any depth can be read, but not everything that handles it later can go as deep. */
export function requireShallow(json: string, levels: number): void {
  if (isNestedDeeper(json, levels)) throw bad("A value is nested too deep.")
}

export function bad(what: string): KeepupError {
  return new KeepupError("CORRUPT", `${what} Nothing was imported.`, {
    hint: "The file was changed or damaged on its way. Export the session again.",
  })
}

/** Data of an entry that nobody can use. It need not be damage: there was a time when it was kept unchecked. */
export function notUnderstood(what: string): KeepupError {
  return new KeepupError("CORRUPT", `${what} Nothing was imported.`, {
    hint: "The file was changed on its way, or an older keepup kept that entry as an agent gave it: then rewind to a checkpoint before it, and export that session.",
  })
}

/** `what` is the version of what: an entry, a file. */
export function tooNew(what: string, version: number, newest: number): KeepupError {
  return new KeepupError("STORE_TOO_NEW", `${what} ${version}; this keepup knows up to ${newest}.`, {
    hint: "A newer keepup wrote it. Update keepup; nothing was imported.",
    details: { version, newest },
  })
}

const parsers = {
  session(fields: Fields) {
    id(fields, "id")
    for (const name of ["name", "agentType", "taskDescription", "workspacePath"]) text(fields, name)
    oneOf(fields, "status", sessionStatuses)
    for (const name of ["createdAt", "updatedAt"]) time(fields, name)
    count(fields, "headSeq", 1, Number.MAX_SAFE_INTEGER) // compared with the entries that follow
    count(fields, "lastCheckpointNumber")
    for (const name of ["parentSessionId", "forkedFromCheckpointId"]) if (fields[name] !== null) id(fields, name)
    object(fields, "metadata")
  },
  entry(fields: Fields) {
    id(fields, "sessionId")
    count(fields, "seq", 1)
    const { type } = fields
    if (typeof type !== "string" || normalizeEventName(type) !== type) throw wrong("entry", "type")
    count(fields, "version", 1)
    time(fields, "createdAt")
    count(fields, "messageIndex")
    const parent = fields["parent"] as EntryRef | null
    if (parent !== null) {
      if (!isObject(parent)) throw wrong("entry", "parent")
      id(parent as unknown as Fields, "sessionId")
      count(parent as unknown as Fields, "seq", 1)
    }
    if (Object.hasOwn(fields, "data") === Object.hasOwn(fields, "dataHash")) throw wrong("entry", "data")
    if (fields["dataHash"] !== undefined) matches(fields, "dataHash", sha256)
  },
  checkpoint(fields: Fields) {
    id(fields, "id")
    id(fields, "sessionId")
    for (const name of ["number", "entrySeq"]) count(fields, name, 1)
    count(fields, "messageIndex")
    count(fields, "sizeBytes", 0, limits.sizeBytes)
    if (fields["name"] !== null) {
      text(fields, "name")
      checkName(fields["name"] as string)
    }
    if (fields["note"] !== null) text(fields, "note")
    oneOf(fields, "trigger", checkpointTriggers)
    time(fields, "createdAt")
    if (typeof fields["pinned"] !== "boolean") throw wrong("checkpoint", "pinned")
    if (fields["snapshot"] !== null) parseSnapshot(fields["snapshot"] as CheckpointSnapshot)
    if (fields["git"] !== null) parseGit(fields["git"] as GitFacts)
    object(fields, "metadata")
  },
  log(fields: Fields) {
    id(fields, "sessionId")
    oneOf(fields, "level", ["debug", "info", "warn", "error"])
    text(fields, "message")
    time(fields, "createdAt")
  },
  artifact(fields: Fields) {
    for (const name of ["id", "type", "schemaVersion", "title", "mediaType"]) text(fields, name)
    if (fields["id"] === "" || (fields["id"] as string).length > longestArtifactId) throw wrong("artifact", "id")
    id(fields, "sessionId")
    for (const name of ["taskNodeId", "idempotencyKey"]) if (fields[name] !== null) text(fields, name)
    matches(fields, "hash", sha256)
    count(fields, "sizeBytes", 0, limits.contentBytes)
    time(fields, "createdAt")
    const { quarantine } = fields
    const isList = Array.isArray(quarantine) && quarantine.every((reason) => typeof reason === "string")
    if (quarantine !== null && !isList) throw wrong("artifact", "quarantine")
    if (fields["renderHints"] !== null) object(fields, "renderHints")
  },
  content(fields: Fields) {
    matches(fields, "hash", sha256)
    count(fields, "sizeBytes", 0, limits.contentBytes)
  },
  object(fields: Fields) {
    matches(fields, "id", gitId)
    oneOf(fields, "type", ["blob", "tree", "commit"])
    count(fields, "sizeBytes", 0, fields["type"] === "blob" ? limits.contentBytes : limits.treeBytes)
  },
  chunk(fields: Fields) {
    const isText = typeof fields["text"] === "string"
    if (isText === (typeof fields["base64"] === "string")) throw wrong("chunk", "content")
  },
  end(fields: Fields) {
    matches(fields, "sha256", sha256)
    object(fields, "counts")
    for (const name of recordNames) count(fields["counts"] as Fields, name)
  },
} as const

function checkName(name: string): void {
  let parsed: string | undefined
  try {
    parsed = parseCheckpointName(name)
  } catch {
    parsed = undefined
  }
  if (parsed !== name) throw wrong("checkpoint", "name")
}

function parseSnapshot(snapshot: CheckpointSnapshot): void {
  if (!isObject(snapshot)) throw wrong("checkpoint", "snapshot")
  const fields = snapshot as unknown as Fields
  matches(fields, "commit", gitId)
  for (const name of ["filesChanged", "insertions", "deletions"]) count(fields, name)
  const isList =
    Array.isArray(snapshot.skipped) &&
    snapshot.skipped.every((one) => typeof one?.path === "string" && typeof one.reason === "string")
  if (!isList) throw wrong("checkpoint", "snapshot")
}

function parseGit(git: GitFacts): void {
  if (!isObject(git)) throw wrong("checkpoint", "git")
  const fields = git as unknown as Fields
  for (const name of ["branch", "head", "operation"]) if (fields[name] !== null) text(fields, name)
  for (const name of ["uncommitted", "untracked"]) count(fields, name)
}

function tryParse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function text(fields: Fields, name: string): void {
  if (typeof fields[name] !== "string") throw wrong(fields["record"], name)
}

function object(fields: Fields, name: string): void {
  if (!isObject(fields[name])) throw wrong(fields["record"], name)
}

function id(fields: Fields, name: string): void {
  matches(fields, name, uuid)
}

function matches(fields: Fields, name: string, shape: RegExp): void {
  const value = fields[name]
  if (typeof value !== "string" || !shape.test(value)) throw wrong(fields["record"], name)
}

function time(fields: Fields, name: string): void {
  count(fields, name, -largestTime, largestTime)
}

function count(fields: Fields, name: string, from = 0, to: number = limits.number): void {
  const value = fields[name]
  if (!Number.isSafeInteger(value) || (value as number) < from || (value as number) > to) {
    throw wrong(fields["record"], name)
  }
}

function oneOf(fields: Fields, name: string, words: readonly string[]): void {
  if (!words.includes(fields[name] as string)) throw wrong(fields["record"], name)
}

function wrong(record: unknown, name: string): KeepupError {
  return bad(`The field ${name} of a ${typeof record === "string" ? record : "header"} is not what it should be.`)
}
