/** Sessions: list, show, rename, delete, pause, and what is around them. */
import { stat } from "node:fs/promises"
import {
  checkpointToJson,
  type EntryRef,
  findUndoable,
  KeepupError,
  listKnownWorkspaces,
  type Runtime,
  readMessages,
  requestPause,
  restoreToJson,
  type Session,
  type SessionId,
  sessionToJson,
} from "@ku0/agent-runtime"
import * as api from "../../api.js"
import { listWithHolders, readGuard } from "../guards.js"
import { getCheckpoint, getSession } from "../references.js"
import { type AnyRoute, given, route } from "../route.js"
import { artifactToJson, entryToJson } from "../shapes.js"

const mostContent = 256 << 10

export function sessionRoutes(runtime: Runtime): AnyRoute[] {
  const { store } = runtime

  const list = route({
    method: "get",
    path: "/api/sessions",
    summary: "sessions, newest first",
    query: api.listSessionsQuerySchema,
    answer: api.sessionListSchema,
    async handle({ query }) {
      const { status, workspace, q, before } = query
      const limit = query.limit ?? 50
      const last = before === undefined ? undefined : (await getSession(runtime, before)).id
      const options = { status, workspacePath: workspace, search: q, before: last, limit }
      const sessions = await store.sessions.list(given(options))
      const next = sessions.length === limit ? (sessions.at(-1)?.id ?? null) : null
      return { sessions: await listWithHolders(runtime, sessions), next }
    },
  })

  const workspaces = route({
    method: "get",
    path: "/api/workspaces",
    summary: "workspaces with sessions, the one changed last first",
    answer: api.workspaceListSchema,
    handle: async () => ({ workspaces: await listKnownWorkspaces(store) }),
  })

  const show = route({
    method: "get",
    path: "/api/sessions/{sid}",
    summary: "one session with its newest checkpoints and log lines",
    params: api.sessionParamsSchema,
    answer: api.sessionDetailSchema,
    async handle({ params }) {
      const session = await getSession(runtime, params.sid)
      const undoable = await findUndoable(runtime, session.workspacePath)
      return {
        session: sessionToJson(session),
        headSeq: session.headSeq,
        guard: await readGuard(runtime, session),
        checkpoints: (await store.checkpoints.list(session.id, { limit: 50 })).reverse().map(checkpointToJson),
        logs: (await store.sessions.listLogs(session.id, { limit: 20 })).map(({ sessionId: _, ...line }) => line),
        stale: await listStale(session),
        failed: await listFailed(session),
        lastRestore: undoable === undefined ? null : { ...restoreToJson(undoable), createdAt: undoable.createdAt },
      }
    },
  })

  async function listStale({ id, headSeq }: Session) {
    const after = Math.max(0, headSeq - 1_000)
    const options = { types: ["context:file-stale"], after, direction: "backward" as const, limit: 50 }
    return (await store.log.read(id, options)).map(({ seq, createdAt, data }) => {
      return { path: String((data as { path?: unknown } | null)?.path), seq, createdAt }
    })
  }

  async function listFailed({ id, headSeq }: Session) {
    const [newest] = await store.checkpoints.list(id, { limit: 1 })
    const after = Math.max(newest?.entrySeq ?? 0, headSeq - 1_000)
    const options = { types: ["checkpoint:failed"], after, direction: "backward" as const, limit: 50 }
    return (await store.log.read(id, options)).map(({ seq, createdAt, data }) => {
      const { trigger, error } = data as { trigger?: unknown; error?: { message?: unknown } }
      return { trigger: String(trigger), message: String(error?.message ?? "unknown"), seq, createdAt }
    })
  }

  const rename = route({
    method: "patch",
    path: "/api/sessions/{sid}",
    summary: "give a session another name",
    params: api.sessionParamsSchema,
    body: api.renameBodySchema,
    answer: api.sessionAnswerSchema,
    async handle({ params, body }) {
      const { id } = await getSession(runtime, params.sid)
      return { session: sessionToJson(await store.sessions.rename(id, body.name)) }
    },
  })

  const remove = route({
    method: "delete",
    path: "/api/sessions/{sid}",
    summary: "take a session away; branches keep the history they share with it",
    params: api.sessionParamsSchema,
    answer: api.sessionAnswerSchema,
    async handle({ params }) {
      const session = await getSession(runtime, params.sid)
      await store.sessions.delete(session.id)
      return { session: sessionToJson(session) }
    },
  })

  const pause = route({
    method: "post",
    path: "/api/sessions/{sid}/pause",
    summary: "ask a running session to stop at its next safe point",
    params: api.sessionParamsSchema,
    answer: api.sessionAnswerSchema,
    async handle({ params }) {
      const { id } = await getSession(runtime, params.sid)
      return { session: sessionToJson(await requestPause(runtime, id)) }
    },
  })

  const workspaceNow = route({
    method: "get",
    path: "/api/sessions/{sid}/workspace",
    summary: "the session's folder as it is now",
    params: api.sessionParamsSchema,
    answer: api.workspaceNowSchema,
    async handle({ params }) {
      const session = await getSession(runtime, params.sid)
      const isThere = await stat(session.workspacePath).then(
        (facts) => facts.isDirectory(),
        () => false,
      )
      const git = isThere ? await runtime.readGit(session.workspacePath) : null
      return { path: session.workspacePath, isThere, git, guard: await readGuard(runtime, session) }
    },
  })

  const messages = route({
    method: "get",
    path: "/api/sessions/{sid}/messages",
    summary: "messages along the history to the head or to a checkpoint, by index",
    params: api.sessionParamsSchema,
    query: api.messagesQuerySchema,
    answer: api.messageListSchema,
    async handle({ params, query }) {
      const session = await getSession(runtime, params.sid)
      const { at, total } = await findPlace(session, query.checkpoint)
      const limit = query.limit ?? 50
      const middle = query.around === undefined ? undefined : query.around - Math.floor(limit / 2)
      const from = Math.max(1, query.from ?? Math.min(middle ?? total, total - limit + 1))
      const read = await readMessages(store, at, { from, limit })
      return { total, messages: read.map(({ message, ...rest }) => ({ ...rest, ...cutMessage(message) })) }
    },
  })

  async function findPlace(session: Session, reference?: string): Promise<{ at: EntryRef; total: number }> {
    if (reference === undefined) {
      return { at: { sessionId: session.id, seq: session.headSeq }, total: session.messageCount }
    }
    const { sessionId, entrySeq, messageIndex } = await getCheckpoint(runtime, session, reference)
    return { at: { sessionId, seq: entrySeq }, total: messageIndex }
  }

  const entries = route({
    method: "get",
    path: "/api/sessions/{sid}/entries",
    summary: "the session's own entries by seq",
    params: api.sessionParamsSchema,
    query: api.entriesQuerySchema,
    answer: api.entryListSchema,
    async handle({ params, query }) {
      const { id, headSeq } = await getSession(runtime, params.sid)
      const { after, before, limit = 200 } = query
      const direction = after === undefined && before !== undefined ? ("backward" as const) : ("forward" as const)
      const read = await store.log.read(id, { direction, limit, ...given({ after, before }) })
      return { entries: read.map(entryToJson), headSeq }
    },
  })

  const logs = route({
    method: "get",
    path: "/api/sessions/{sid}/logs",
    summary: "what keepup had to say about the session, newest first",
    params: api.sessionParamsSchema,
    query: api.logsQuerySchema,
    answer: api.logListSchema,
    async handle({ params, query }) {
      const { id } = await getSession(runtime, params.sid)
      return { logs: (await store.sessions.listLogs(id, given(query))).map(({ sessionId: _, ...line }) => line) }
    },
  })

  const artifacts = route({
    method: "get",
    path: "/api/sessions/{sid}/artifacts",
    summary: "what the session produced and kept, newest first",
    params: api.sessionParamsSchema,
    query: api.artifactsQuerySchema,
    answer: api.artifactListSchema,
    async handle({ params, query }) {
      const { id } = await getSession(runtime, params.sid)
      const limit = query.limit ?? 50
      const found = await store.artifacts.list({
        sessionId: id as SessionId,
        limit,
        ...given({ before: query.before }),
      })
      return { artifacts: found.map(artifactToJson), next: found.length === limit ? (found.at(-1)?.id ?? null) : null }
    },
  })

  return [list, workspaces, show, rename, remove, pause, workspaceNow, messages, entries, logs, artifacts]
}

function cutMessage(message: { readonly role: string; readonly content: string }) {
  if (typeof message.content !== "string") throw new KeepupError("CORRUPT", "A message has no content.")
  const bytes = Buffer.from(message.content)
  if (bytes.length <= mostContent) return { message: { ...message } }
  const content = bytes
    .subarray(0, mostContent)
    .toString("utf8")
    .replace(/\uFFFD$/, "")
  return { message: { ...message, content }, cutBytes: bytes.length - Buffer.byteLength(content) }
}
