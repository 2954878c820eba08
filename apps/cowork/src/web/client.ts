/** The calls of the page. Every failure is a `KeepupError` with what happened and what to do next. */
import { type ErrorCode, KeepupError } from "@ku0/agent-runtime-core"
import type {
  ArtifactList,
  CheckpointAnswer,
  CheckpointDetail,
  Compare,
  CreateCheckpointBody,
  DiffFile,
  DiffList,
  Failure,
  FileList,
  Graph,
  Health,
  ListSessionsQuery,
  Login,
  LogList,
  MessageList,
  ReplayAnswer,
  ReplayBody,
  RestoreAnswer,
  RestoreBody,
  SessionAnswer,
  SessionDetail,
  SessionList,
  StateList,
  StateValue,
} from "../api.js"
import { readToken } from "./token.js"

type Query = Readonly<Record<string, string | number | undefined>>

/** Listeners hear that the token is not taken; the page then asks for another one. */
const refusals = new Set<() => void>()
export function onTokenRefused(listener: () => void): () => void {
  refusals.add(listener)
  return () => refusals.delete(listener)
}

const session = (sid: string) => `/api/sessions/${encodeURIComponent(sid)}`
const checkpoint = (sid: string, cid: string) => `${session(sid)}/checkpoints/${encodeURIComponent(cid)}`
const encodePath = (path: string) => path.split("/").map(encodeURIComponent).join("/")

export const api = {
  health: (signal?: AbortSignal) => get<Health>("/api/health", {}, signal),
  login: (code: string) => send<Login>("POST", "/api/login", { code }),
  sessions: (query: ListSessionsQuery, signal?: AbortSignal) =>
    get<SessionList>("/api/sessions", query as Query, signal),
  session: (sid: string, signal?: AbortSignal) => get<SessionDetail>(session(sid), {}, signal),
  rename: (sid: string, name: string) => send<SessionAnswer>("PATCH", session(sid), { name }),
  deleteSession: (sid: string) => send<SessionAnswer>("DELETE", session(sid)),
  pause: (sid: string) => send<SessionAnswer>("POST", `${session(sid)}/pause`),
  graph: (sid: string, signal?: AbortSignal) => get<Graph>(`${session(sid)}/graph`, {}, signal),
  messages: (sid: string, query: Query, signal?: AbortSignal) =>
    get<MessageList>(`${session(sid)}/messages`, query, signal),
  logs: (sid: string, query: Query, signal?: AbortSignal) => get<LogList>(`${session(sid)}/logs`, query, signal),
  artifacts: (sid: string, query: Query, signal?: AbortSignal) =>
    get<ArtifactList>(`${session(sid)}/artifacts`, query, signal),
  takeCheckpoint: (sid: string, body: CreateCheckpointBody) =>
    send<CheckpointAnswer>("POST", `${session(sid)}/checkpoints`, body),
  checkpoint: (sid: string, cid: string, signal?: AbortSignal) =>
    get<CheckpointDetail>(checkpoint(sid, cid), {}, signal),
  pin: (sid: string, cid: string, pinned: boolean) => send<CheckpointAnswer>("PATCH", checkpoint(sid, cid), { pinned }),
  deleteCheckpoint: (sid: string, cid: string) => send<CheckpointAnswer>("DELETE", checkpoint(sid, cid)),
  state: (sid: string, cid: string, signal?: AbortSignal) =>
    get<StateList>(`${checkpoint(sid, cid)}/state`, {}, signal),
  stateValue: (sid: string, cid: string, key: string, signal?: AbortSignal) =>
    get<StateValue>(`${checkpoint(sid, cid)}/state/${encodeURIComponent(key)}`, {}, signal),
  diff: (sid: string, cid: string, query: Query, signal?: AbortSignal) =>
    get<DiffList>(`${checkpoint(sid, cid)}/diff`, query, signal),
  diffFile: (sid: string, cid: string, path: string, query: Query, signal?: AbortSignal) =>
    get<DiffFile>(`${checkpoint(sid, cid)}/diff/${encodePath(path)}`, query, signal),
  files: (sid: string, cid: string, query: Query, signal?: AbortSignal) =>
    get<FileList>(`${checkpoint(sid, cid)}/files`, query, signal),
  file: (sid: string, cid: string, path: string, signal?: AbortSignal) =>
    getBytes(`${checkpoint(sid, cid)}/files/${encodePath(path)}`, signal),
  artifact: (aid: string, signal?: AbortSignal) =>
    getBytes(`/api/artifacts/${encodeURIComponent(aid)}/content`, signal),
  restore: (sid: string, cid: string, body: RestoreBody) =>
    send<RestoreAnswer>("POST", `${checkpoint(sid, cid)}/restore`, body),
  undo: (id: string) => send<RestoreAnswer>("POST", `/api/restores/${encodeURIComponent(id)}/undo`),
  replay: (sid: string, cid: string, body: ReplayBody, signal?: AbortSignal) =>
    send<ReplayAnswer>("POST", `${checkpoint(sid, cid)}/replay`, body, signal),
  compare: (from: string, to: string, signal?: AbortSignal) => get<Compare>("/api/compare", { from, to }, signal),
  allEvents: "/api/events",
  events: (sid: string, after: number) => `${session(sid)}/events?after=${after}`,
} as const

/** Bytes of a file or an artifact, with what the server says they are. */
export interface Bytes {
  readonly blob: Blob
  readonly mediaType: string
  readonly kind: string | null
}

function get<Answer>(path: string, query: Query, signal?: AbortSignal): Promise<Answer> {
  return answer<Answer>(ask("GET", withQuery(path, query), undefined, signal))
}

function send<Answer>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Answer> {
  return answer<Answer>(ask(method, path, body, signal))
}

async function getBytes(path: string, signal?: AbortSignal): Promise<Bytes> {
  const response = await ask("GET", path, undefined, signal)
  const mediaType = response.headers.get("content-type") ?? "application/octet-stream"
  return { blob: await response.blob(), mediaType, kind: response.headers.get("x-keepup-kind") }
}

async function answer<Answer>(asked: Promise<Response>): Promise<Answer> {
  return (await (await asked).json()) as Answer
}

/** Asks with the token; anything but success is thrown. Also what the streams are opened with. */
export async function ask(method: string, path: string, body?: unknown, signal?: AbortSignal, lastId?: string) {
  const token = readToken()
  const headers = new Headers()
  if (token !== null) headers.set("authorization", `Bearer ${token}`)
  if (body !== undefined) headers.set("content-type", "application/json")
  if (lastId !== undefined) headers.set("last-event-id", lastId)
  const init: RequestInit = { method, headers, cache: "no-store", credentials: "omit" }
  if (body !== undefined) init.body = JSON.stringify(body)
  if (signal) init.signal = signal
  const response = await fetch(path, init).catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause
    throw new KeepupError("UNAVAILABLE", "The keepup server does not answer.", {
      hint: "Start it again in a terminal: keepup serve. This page goes on by itself.",
      cause,
    })
  })
  if (response.ok) return response
  const error = await readFailure(response)
  if (response.status === 401 && path !== "/api/login") for (const listener of refusals) listener()
  throw error
}

async function readFailure(response: Response): Promise<KeepupError> {
  const text = await response.text()
  try {
    const { error } = JSON.parse(text) as Failure
    const { code, message, hint, details } = error
    return new KeepupError(code as ErrorCode, message, {
      ...(hint === undefined ? {} : { hint }),
      ...(details === undefined ? {} : { details }),
    })
  } catch (cause) {
    return new KeepupError("INTERNAL", `The server answered ${response.status} without saying why.`, { cause })
  }
}

function withQuery(path: string, query: Query): string {
  const words = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value !== undefined) words.set(key, String(value))
  return words.size === 0 ? path : `${path}?${words}`
}
