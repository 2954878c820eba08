/**
 * Takes in the `sessions.json` of our origin: a list of sessions with plain messages and tool calls. The file is only
 * read. Every session becomes an ended one under a new id; calls are put between the messages by their times.
 */
import { readFile, stat } from "node:fs/promises"
import { event, KeepupError, type Message, type Session, type SessionId } from "@ku0/agent-runtime-core"
import { fromFileError } from "../artifact/file-error.js"
import { deepestJson } from "../store/json-depth.js"
import type { Store } from "../store/open-store.js"
import { insertRecords, type StoredRecord } from "./insert-records.js"
import { createIdMap } from "./map-ids.js"
import { requireShallow } from "./parse-record.js"
import type { SessionRecord } from "./transfer-format.js"

export interface ImportOldSessionsOptions {
  readonly path: string
  readonly workspacePath: string
}

type Fields = Readonly<Record<string, unknown>>

interface Said {
  readonly time: number
  readonly type: string
  readonly data: unknown
}

const largestFile = 256 << 20

/** All sessions of the file, or none. */
export async function importOldSessions(store: Store, options: ImportOldSessionsOptions): Promise<Session[]> {
  const list = await readOldFile(options.path)
  const records = list.map((one, index) => toRecords(one, index, options.workspacePath, store.context.clock.now()))
  const { context } = store
  const made = await insertRecords(records.flat(), {
    context,
    ids: createIdMap(context.ids, new Set()),
    workspacePath: options.workspacePath,
    isShown: () => true,
    interruption: "",
    readContent: () => Buffer.alloc(0),
    blobHashes: [],
  })
  const sessions: Session[] = []
  for (const id of made) sessions.push(await store.sessions.get(id))
  return sessions
}

async function readOldFile(path: string): Promise<Fields[]> {
  let bytes: Buffer
  try {
    const found = await stat(path)
    if (!found.isFile()) throw refused(path, "is not a file") // who reads a pipe waits for whoever fills it
    if (found.size > largestFile) throw refused(path, `has more than ${largestFile} bytes`)
    bytes = await readFile(path)
  } catch (error) {
    throw fromFileError(error, `read ${path}`)
  }
  const json = bytes.toString("utf8")
  requireShallow(json, deepestJson)
  let list: unknown
  try {
    list = JSON.parse(json.replace(/^\uFEFF/, ""))
  } catch (cause) {
    throw refused(path, "is not JSON", cause)
  }
  if (!Array.isArray(list) || !list.every(isObject)) throw refused(path, "is not a list of sessions")
  for (const session of list) {
    if (typeof session["id"] !== "string" || !Array.isArray(session["messages"])) {
      throw refused(path, "holds something that is not a session")
    }
    for (const name of ["messages", "toolCalls", "approvals"]) {
      const items = session[name] ?? []
      if (Array.isArray(items) && items.every(isObject)) continue
      throw refused(path, `holds something among the ${name} of a session that does not belong there`)
    }
  }
  return list
}

function toRecords(old: Fields, index: number, workspacePath: string, now: number): StoredRecord[] {
  const id = `${index} ${old["id"]}` as SessionId
  const createdAt = toTime(old["createdAt"]) ?? now
  const said = putInOrder(old, createdAt)
  const name = textOf(old["title"]) || "Imported session"
  const task = firstPrompt(old)
  const session: SessionRecord = {
    record: "session",
    id,
    name,
    agentType: "keep-up",
    taskDescription: task,
    status: "completed",
    workspacePath,
    createdAt,
    updatedAt: toTime(old["updatedAt"]) ?? createdAt,
    headSeq: said.length + 2,
    lastCheckpointNumber: 0,
    parentSessionId: null,
    forkedFromCheckpointId: null,
    metadata: { importedFrom: { format: "sessions.json", id: old["id"] } },
  }
  const facts = { name, agentType: session.agentType, taskDescription: task, workspacePath }
  const entries: Said[] = [
    { time: createdAt, ...event("session:started", facts) },
    ...said,
    { time: session.updatedAt, ...event("session:ended", { outcome: "completed", reason: "imported" }) },
  ]
  const records = entries.map(({ time, type, data }, position): StoredRecord => {
    const place = { record: "entry" as const, sessionId: id, seq: position + 1, messageIndex: 0, parent: null }
    return { ...place, type, version: 1, createdAt: time, data }
  })
  return [session, ...records]
}

/** Messages in their order; calls and approvals where their times put them, never before a message of the same time. */
function putInOrder(old: Fields, createdAt: number): Said[] {
  let last = createdAt
  const messages = listOf(old["messages"]).map((message): Said => {
    last = Math.max(last, toTime(message["timestamp"]) ?? last)
    return { time: last, ...added(toMessage(message)) }
  })
  const others: Said[] = []
  for (const [position, call] of listOf(old["toolCalls"]).entries()) {
    const time = toTime(call["startedAt"]) ?? last
    const callId = `${textOf(call["id"]) || "call"}-${position + 1}`
    const toolCall = { id: callId, name: textOf(call["name"]) || "tool", arguments: call["arguments"] ?? {} }
    const { content, isError } = toResult(call)
    others.push({ time, ...added({ role: "assistant", content: "", toolCalls: [toolCall] }) })
    others.push({ time, ...added({ role: "tool", callId, name: toolCall.name, content, ...(isError && { isError }) }) })
  }
  for (const approval of listOf(old["approvals"])) {
    const time = toTime(approval["requestedAt"] ?? approval["timestamp"]) ?? last
    others.push({ time, type: "approval:recorded", data: approval })
  }
  return [...messages, ...others].sort((a, b) => a.time - b.time) // keeps the order of what has the same time
}

function added(message: Message) {
  return event("message:added", { message: message as never })
}

function toMessage(old: Fields): Message {
  const { role } = old
  const content = textOf(old["content"])
  return { role: role === "assistant" || role === "system" ? role : "user", content }
}

/** What a tool answered, as text: the parts of its content, or what went wrong. */
function toResult(call: Fields): { content: string; isError: boolean } {
  const result = isObject(call["result"]) ? call["result"] : undefined
  const parts = listOf(result?.["content"]).map((part) => textOf(part["text"]) || JSON.stringify(part))
  const error = isObject(result?.["error"]) ? textOf(result["error"]["message"]) : textOf(call["error"])
  const isError = call["status"] === "failed" || result?.["success"] === false || error !== ""
  if (call["status"] === "started") return { content: "No result was recorded.", isError: true }
  return { content: [...parts, error].filter((part) => part !== "").join("\n"), isError }
}

function firstPrompt(old: Fields): string {
  const first = listOf(old["messages"]).find(({ role }) => role === "user")
  return textOf(first?.["content"]).slice(0, 200)
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value
  return value === undefined || value === null ? "" : JSON.stringify(value)
}

/** Milliseconds, or what a date says in words. */
function toTime(value: unknown): number | undefined {
  const time = typeof value === "string" ? Date.parse(value) : value
  return typeof time === "number" && Number.isFinite(time) && Math.abs(time) < 8.64e15 ? Math.trunc(time) : undefined
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function refused(path: string, what: string, cause?: unknown): KeepupError {
  return new KeepupError("INVALID_INPUT", `${path} ${what}. Nothing was imported; the file was not changed.`, { cause })
}
