/** Going back and forth: restore, undo, replay, compare. The same leases and guards as everywhere else. */
import {
  type Checkpoint,
  type CheckpointId,
  checkpointToJson,
  type EntryRef,
  findCommonEntry,
  KeepupError,
  planRestore,
  planToJson,
  type RestorePlan,
  type Runtime,
  readFamily,
  readReplayPage,
  restoreCheckpoint,
  restoreToJson,
  rewindToCheckpoint,
  type Session,
  sessionToJson,
  undoRestore,
  verifyReplay,
} from "@ku0/agent-runtime"
import * as api from "../../api.js"
import { linkCheckpoints } from "../graph.js"
import type { Looks } from "../looks.js"
import { getCheckpoint, getSession, requireInside } from "../references.js"
import { type AnyRoute, route } from "../route.js"
import { entryToJson } from "../shapes.js"
import { compareKeys, refOf } from "./checkpoints.js"

interface Side {
  readonly session: Session
  readonly checkpoint: Checkpoint | undefined
  readonly at: EntryRef
  readonly messageCount: number
}

export function travelRoutes(runtime: Runtime, looks: Looks): AnyRoute[] {
  const { store } = runtime

  const restore = route({
    method: "post",
    path: "/api/sessions/{sid}/checkpoints/{cid}/restore",
    summary: "make a checkpoint the present; with dryRun only the plan",
    params: api.checkpointParamsSchema,
    body: api.restoreBodySchema,
    answer: api.restoreAnswerSchema,
    async handle({ params, body }) {
      const session = await getSession(runtime, params.sid)
      const checkpoint = await getCheckpoint(runtime, session, params.cid)
      const { branch, planLimit } = body
      const paths = body.paths?.map(requireInside)
      const mode = body.mode ?? (paths === undefined ? "both" : "files")
      if (mode === "conversation" && paths !== undefined) {
        throw new KeepupError("INVALID_INPUT", "`paths` is about files: it does not go with mode conversation.")
      }
      const options = { checkpoint, mode, ...(paths && { paths }) }
      const isBranch = branch !== undefined && branch !== false
      if (body.dryRun === true) {
        const plan = await planRestore(runtime, options)
        const draft = { id: null, checkpointId: checkpoint.id, safetyCheckpointId: null, sessionId: session.id, mode }
        return {
          ...describePlan(plan, planLimit),
          ...{ restore: draft, applied: false, messagesHidden: isBranch ? 0 : plan.messagesHidden },
          changedSince: plan.changedSince.slice(0, planLimit),
        }
      }
      if (!isBranch) {
        const done = await restoreCheckpoint(runtime, options)
        return { restore: restoreToJson(done.restore), ...describePlan(done.plan, planLimit), applied: true }
      }
      const made = await rewindToCheckpoint(runtime, {
        ...options,
        ...(typeof branch === "string" && { name: branch }),
      })
      const kept = { id: null, checkpointId: checkpoint.id, safetyCheckpointId: null, sessionId: made.session.id, mode }
      return {
        restore: made.restore === null ? kept : { ...restoreToJson(made.restore), mode },
        ...describePlan(made.plan, planLimit),
        applied: true,
        session: sessionToJson(made.session),
      }
    },
  })

  const undo = route({
    method: "post",
    path: "/api/restores/{id}/undo",
    summary: "take a restore back: every file and the head as they were",
    params: api.undoParamsSchema,
    answer: api.restoreAnswerSchema,
    async handle({ params }) {
      const done = await undoRestore(runtime, { restoreId: params.id })
      return { restore: restoreToJson(done.restore), ...describePlan(done.plan), applied: true }
    },
  })

  const replay = route({
    method: "post",
    path: "/api/sessions/{sid}/checkpoints/{cid}/replay",
    summary: "go through what happened after a checkpoint again; nothing is executed",
    params: api.checkpointParamsSchema,
    body: api.replayBodySchema,
    answer: api.replayAnswerSchema,
    async handle({ params, body, signal }) {
      const session = await getSession(runtime, params.sid)
      const from = await getCheckpoint(runtime, session, params.cid)
      const to = body.to === undefined ? undefined : await getCheckpoint(runtime, session, body.to, true)
      const { offset = 0, mode } = body
      const limit = mode === "verify" ? 0 : (body.limit ?? 500)
      const page = await readReplayPage(store, { from, ...(to && { to }), offset, limit })
      const { total, startedAt, endedAt } = page
      const answer = { mode, total, startedAt, endedAt, offset, entries: page.entries.map(entryToJson) }
      if (mode === "show") return answer
      const report = await verifyReplay(runtime, from, to, signal())
      return { ...answer, verified: { ...report, problems: [...report.problems] } }
    },
  })

  const compare = route({
    method: "get",
    path: "/api/compare",
    summary: "what two checkpoints or sessions share and where they differ",
    query: api.compareQuerySchema,
    answer: api.compareSchema,
    async handle({ query }) {
      const [from, to] = [await findSide(query.from), await findSide(query.to)]
      const common = await findCommonEntry(store, from.at, to.at)
      const keys = compareKeys(await store.state.keys(from.at), await store.state.keys(to.at))
      return {
        from: sideToJson(from),
        to: sideToJson(to),
        common: common === undefined ? null : await describeCommon(from.session, common),
        state: keys.flatMap(({ key, change }) => (change === "same" ? [] : [{ key, change }])),
        canDiff:
          from.session.workspacePath === to.session.workspacePath && (await hasFiles(from)) && (await hasFiles(to)),
      }
    },
  })

  async function findSide(reference: string): Promise<Side> {
    const checkpoint = await store.checkpoints.find(reference.toLowerCase() as CheckpointId)
    if (checkpoint !== undefined) {
      const session = await store.sessions.get(checkpoint.sessionId)
      return { session, checkpoint, at: refOf(checkpoint), messageCount: checkpoint.messageIndex }
    }
    const session = await getSession(runtime, reference)
    const at = { sessionId: session.id, seq: session.headSeq }
    const newest = linkCheckpoints(await readFamily(store, session.id)).newestAt(at)
    const found = newest === undefined ? undefined : await store.checkpoints.find(newest.id)
    return { session, checkpoint: found, at, messageCount: session.messageCount }
  }

  async function describeCommon(session: Session, entry: EntryRef) {
    const [found] = await store.log.read(entry.sessionId, { after: entry.seq - 1, limit: 1 })
    const checkpoint = linkCheckpoints(await readFamily(store, session.id)).newestAt(entry)
    return { entry: { ...entry }, messageIndex: found?.messageIndex ?? 0, checkpointId: checkpoint?.id ?? null }
  }

  async function hasFiles({ checkpoint }: Side): Promise<boolean> {
    if (checkpoint === undefined) return false
    return await looks.files(checkpoint).then(
      () => true,
      () => false,
    )
  }

  return [restore, undo, replay, compare]
}

function sideToJson({ session, checkpoint, messageCount }: Side) {
  const shown = checkpoint === undefined ? null : checkpointToJson(checkpoint)
  return { session: sessionToJson(session), checkpoint: shown, messageCount }
}

function describePlan(plan: RestorePlan, most?: number) {
  const counts = { write: plan.write.length, delete: plan.delete.length, notCaptured: plan.notCaptured.length }
  return { plan: planToJson(plan, most), counts }
}
