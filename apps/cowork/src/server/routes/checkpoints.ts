/** Checkpoints: list, take, show, pin, delete, their state, and the graph they make. */
import {
  type Checkpoint,
  checkpointToJson,
  diffState,
  type FamilyCheckpoint,
  type FamilyMember,
  KeepupError,
  type Runtime,
  readFamily,
  sessionToJson,
  toKeepupError,
} from "@ku0/agent-runtime"
import * as api from "../../api.js"
import { type CheckpointLinks, linkCheckpoints } from "../graph.js"
import { readHolder } from "../guards.js"
import type { Looks } from "../looks.js"
import { getCheckpoint, getSession } from "../references.js"
import { type AnyRoute, given, route } from "../route.js"
import { listedSession } from "../shapes.js"

const mostValue = 1 << 20

export function checkpointRoutes(runtime: Runtime, looks: Looks): AnyRoute[] {
  const { store } = runtime

  async function find(params: { readonly sid: string; readonly cid: string }) {
    const session = await getSession(runtime, params.sid)
    return { session, checkpoint: await getCheckpoint(runtime, session, params.cid) }
  }

  async function findParent({ id, sessionId }: Checkpoint): Promise<Checkpoint | undefined> {
    const family = await readFamily(store, sessionId)
    const own = family.flatMap(({ checkpoints }) => checkpoints).find((one) => one.id === id)
    const parent = own === undefined ? undefined : linkCheckpoints(family).parentOf(own)
    return parent === undefined ? undefined : await store.checkpoints.find(parent.id)
  }

  const list = route({
    method: "get",
    path: "/api/sessions/{sid}/checkpoints",
    summary: "the session's checkpoints, oldest first",
    params: api.sessionParamsSchema,
    query: api.checkpointsQuerySchema,
    answer: api.checkpointListSchema,
    async handle({ params, query }) {
      const session = await getSession(runtime, params.sid)
      const limit = query.limit ?? 1_000
      const found = await store.checkpoints.list(session.id, { limit, ...given({ before: query.before }) })
      const next = found.length === limit ? (found.at(-1)?.number ?? null) : null
      return { session: sessionToJson(session), checkpoints: found.reverse().map(checkpointToJson), next }
    },
  })

  const take = route({
    method: "post",
    path: "/api/sessions/{sid}/checkpoints",
    summary: "take a checkpoint now",
    params: api.sessionParamsSchema,
    body: api.createCheckpointBodySchema,
    answer: api.checkpointAnswerSchema,
    async handle({ params, body }) {
      const { id } = await getSession(runtime, params.sid)
      const taken = await runtime.manager.take({ sessionId: id, trigger: "manual", ...given(body) })
      return { checkpoint: checkpointToJson(taken as Checkpoint) }
    },
  })

  const show = route({
    method: "get",
    path: "/api/sessions/{sid}/checkpoints/{cid}",
    summary: "one checkpoint",
    params: api.checkpointParamsSchema,
    answer: api.checkpointDetailSchema,
    async handle({ params }) {
      const { session, checkpoint } = await find(params)
      const filesProblem = await looks.files(checkpoint).then(
        () => null,
        (error: unknown) => toKeepupError(error).message,
      )
      return {
        session: sessionToJson(session),
        checkpoint: checkpointToJson(checkpoint),
        entrySeq: checkpoint.entrySeq,
        parentId: (await findParent(checkpoint))?.id ?? null,
        hasFiles: filesProblem === null,
        filesProblem,
      }
    },
  })

  const change = route({
    method: "patch",
    path: "/api/sessions/{sid}/checkpoints/{cid}",
    summary: "pin a checkpoint, or unpin it",
    params: api.checkpointParamsSchema,
    body: api.changeCheckpointBodySchema,
    answer: api.checkpointAnswerSchema,
    async handle({ params, body }) {
      const { checkpoint } = await find(params)
      return { checkpoint: checkpointToJson(await store.checkpoints.setPinned(checkpoint.id, body.pinned)) }
    },
  })

  const remove = route({
    method: "delete",
    path: "/api/sessions/{sid}/checkpoints/{cid}",
    summary: "take a checkpoint away; the conversation stays",
    params: api.checkpointParamsSchema,
    answer: api.checkpointAnswerSchema,
    async handle({ params }) {
      const { checkpoint } = await find(params)
      if (checkpoint.pinned) {
        throw new KeepupError("CONFLICT", `Checkpoint #${checkpoint.number} is pinned.`, { hint: "Unpin it first." })
      }
      await store.checkpoints.delete([checkpoint.id])
      return { checkpoint: checkpointToJson(checkpoint) }
    },
  })

  const state = route({
    method: "get",
    path: "/api/sessions/{sid}/checkpoints/{cid}/state",
    summary: "the keys of what the agent handed over, and how they changed since the checkpoint before",
    params: api.checkpointParamsSchema,
    answer: api.stateListSchema,
    async handle({ params }) {
      const { checkpoint } = await find(params)
      const parent = await findParent(checkpoint)
      return {
        keys: compareKeys(
          parent ? await store.state.keys(refOf(parent)) : {},
          await store.state.keys(refOf(checkpoint)),
        ),
      }
    },
  })

  const value = route({
    method: "get",
    path: "/api/sessions/{sid}/checkpoints/{cid}/state/{key}",
    summary: "one value of the state, and what it was at the checkpoint before",
    params: api.stateParamsSchema,
    answer: api.stateValueSchema,
    async handle({ params }) {
      const { checkpoint } = await find(params)
      const parent = await findParent(checkpoint)
      const now = pick(await store.state.get(refOf(checkpoint)), params.key)
      const before = parent === undefined ? null : pick(await store.state.get(refOf(parent)), params.key)
      if (now === null && before === null) throw new KeepupError("NOT_FOUND", `The state has no key ${params.key}.`)
      return { key: params.key, now, before }
    },
  })

  const graph = route({
    method: "get",
    path: "/api/sessions/{sid}/graph",
    summary: "the session with all it branched from and all that branched from it",
    params: api.sessionParamsSchema,
    query: api.graphQuerySchema,
    answer: api.graphSchema,
    async handle({ params, query }) {
      const { id } = await getSession(runtime, params.sid)
      const family = await readFamily(store, id)
      const links = linkCheckpoints(family)
      const all = family.flatMap(({ checkpoints }) => checkpoints).sort(byTime)
      const limit = query.limit ?? 2_000
      const nodes = all.slice(-limit).map((one) => describeNode(one, links))
      const sessions = await Promise.all(family.map((member) => describeMember(member, links)))
      return { sessions: sessions.filter((one) => one !== undefined), nodes, isCut: all.length > limit }
    },
  })

  async function describeMember({ id, session, jumps }: FamilyMember, links: CheckpointLinks) {
    if (session === undefined) return undefined
    const [first, ...rest] = jumps
    const origin = first?.seq === 1 ? first : undefined
    return {
      ...listedSession(session, await readHolder(runtime, id)),
      origin: origin === undefined ? null : { ...origin.to },
      headCheckpointId: links.newestAt({ sessionId: id, seq: session.headSeq })?.id ?? null,
      jumps: (origin === undefined ? jumps : rest).map(({ seq, to }) => ({ seq, to: { ...to } })),
    }
  }

  return [list, take, show, change, remove, state, value, graph]
}

export function refOf({ sessionId, entrySeq }: Checkpoint) {
  return { sessionId, seq: entrySeq }
}

/** Key → hash on both sides: what is the same, added, changed, removed. */
export function compareKeys(before: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>) {
  const changed = new Map(diffState({ ...before }, { ...now }).map(({ path, from, to }) => [path, { from, to }]))
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].sort().map((key) => {
    const one = changed.get(`/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`)
    if (one === undefined) return { key, change: "same" as const }
    const change = one.from === undefined ? "added" : one.to === undefined ? "removed" : "changed"
    return { key, change: change as "added" | "removed" | "changed" }
  })
}

function pick(state: Readonly<Record<string, unknown>>, key: string) {
  if (!Object.hasOwn(state, key)) return null
  const sizeBytes = Buffer.byteLength(JSON.stringify(state[key]) ?? "")
  const isTooLarge = sizeBytes > mostValue
  return { value: isTooLarge ? null : state[key], sizeBytes, isTooLarge }
}

function byTime(a: FamilyCheckpoint, b: FamilyCheckpoint): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)
}

function describeNode(one: FamilyCheckpoint, links: CheckpointLinks) {
  const { id, sessionId, number, name, trigger, seq: entrySeq, messageIndex, createdAt, pinned } = one
  return {
    ...{ id, sessionId, number, name, trigger, entrySeq, messageIndex, createdAt, pinned },
    hasFiles: one.filesChanged !== undefined,
    filesChanged: one.filesChanged ?? 0,
    parentId: links.parentOf(one)?.id ?? null,
  }
}
