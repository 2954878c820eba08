/** What people write for a session or a checkpoint → the one they mean, or an error that lists the near ones. */
import { realpathSync } from "node:fs"
import { basename, dirname } from "node:path"
import {
  type Checkpoint,
  type CheckpointId,
  isKeepupError,
  KeepupError,
  type Runtime,
  type Session,
  shortId,
} from "@ku0/agent-runtime"
import type { Context } from "./context.js"
import { cut, oneLine } from "./output/text.js"
import { relativeTime } from "./output/time.js"
import { suggest } from "./suggest.js"

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The session `-S` names, or the workspace's newest one, or that of a folder above. */
export async function getSession(context: Context, reference = context.flags.session): Promise<Session> {
  const runtime = await context.openRuntime()
  const found = await findSession(context, reference)
  if (found !== undefined) return found
  if (reference !== undefined && reference !== "latest") return await runtime.store.sessions.resolve(reference)
  const moved = await findMoved(runtime, context.workspacePath)
  const start = "Start one with `keepup run`, or keep what is here with `keepup checkpoint create`."
  throw new KeepupError("NOT_FOUND", `There is no session in ${context.workspacePath} yet.`, {
    hint: moved === undefined ? start : `${start} ${tellMoved(moved)}`,
  })
}

/** The newest session whose folder is gone and was beside this one or had its name: it may have been moved here. */
export async function findMoved(runtime: Runtime, workspacePath: string): Promise<Session | undefined> {
  const sessions = await runtime.store.sessions.list({ limit: 1_000 })
  const isLikely = ({ workspacePath: before, checkpointCount }: Session) =>
    checkpointCount > 0 &&
    before !== workspacePath &&
    (leadsTo(before) === workspacePath ||
      (leadsTo(before) === undefined &&
        (basename(before) === basename(workspacePath) || dirname(before) === dirname(workspacePath))))
  for (const session of sessions.filter(isLikely).slice(0, 3)) {
    const snapshots = await runtime.snapshots(session.workspacePath).catch(() => undefined) // of another machine
    if (snapshots?.isGone === true) return session
  }
  return undefined
}

function leadsTo(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

export function tellMoved({ id, workspacePath }: Session): string {
  const take = `\`keepup session export ${shortId(id)} ../moved.keepup\`, then \`keepup session import ../moved.keepup\``
  return `Was this folder moved here from ${oneLine(workspacePath)}? Bring its session along: ${take}.`
}

/** The same; `undefined` where the workspace has no session. A reference that names none still throws. */
export async function findSession(context: Context, reference = context.flags.session): Promise<Session | undefined> {
  const runtime = await context.openRuntime()
  if (reference === undefined || reference === "latest") return await findCurrent(runtime, context.workspacePath)
  const named = (await runtime.store.sessions.list({ limit: 1_000 })).filter(({ name }) => name === reference)
  const here = named.filter(({ workspacePath }) => workspacePath === context.workspacePath)
  const [only] = here.length > 0 ? here : named
  if (only !== undefined && (here.length === 1 || named.length === 1)) return only
  if (only !== undefined) {
    throw new KeepupError("INVALID_INPUT", `More than one session is named ${JSON.stringify(reference)}.`, {
      hint: `Give a part of the id: ${named
        .slice(0, 5)
        .map(({ id }) => shortId(id))
        .join(", ")}.`,
    })
  }
  try {
    return await runtime.store.sessions.resolve(reference)
  } catch (error) {
    throw await withNearSessions(error, runtime, reference)
  }
}

async function findCurrent(runtime: Runtime, workspacePath: string): Promise<Session | undefined> {
  const current = await runtime.findCurrentSession()
  if (current !== undefined) return current
  for (let folder = dirname(workspacePath); ; folder = dirname(folder)) {
    const [session] = await runtime.store.sessions.list({ workspacePath: folder, limit: 1 })
    if (session !== undefined) return session
    if (folder === dirname(folder)) return undefined
  }
}

async function withNearSessions(error: unknown, runtime: Runtime, reference: string): Promise<unknown> {
  if (!isKeepupError(error) || !["NOT_FOUND", "INVALID_INPUT"].includes(error.code)) return error
  if (error.message.startsWith("More than one")) return error
  const sessions = await runtime.store.sessions.list({ limit: 200 })
  const near = suggest(
    reference,
    sessions.map(({ name }) => name),
  )
  const shown = near.length > 0 ? near.slice(0, 3).map((name) => JSON.stringify(oneLine(name))) : []
  const hint =
    shown.length > 0
      ? `Did you mean ${shown.join(", ")}?`
      : "`keepup session list` shows what there is; use an id, 4 or more characters of one, a name, or latest."
  return new KeepupError("NOT_FOUND", `There is no session ${JSON.stringify(reference)}.`, { cause: error, hint })
}

/**
 * A checkpoint: `3` or `#3`, a name, `latest`, an id or a part of one, of the session. `SESSION:REF` names one of
 * another session, a whole id one of any.
 */
export async function getCheckpoint(context: Context, session: Session, reference: string): Promise<Checkpoint> {
  const { store } = await context.openRuntime()
  const wanted = reference.trim()
  const tries = /^\d{1,15}$/.test(wanted) ? [`#${wanted}`, wanted] : [wanted]
  let failure: unknown
  for (const one of tries) {
    try {
      return await store.checkpoints.resolve(session.id, one)
    } catch (error) {
      if (!isKeepupError(error) || error.code !== "NOT_FOUND") throw error
      failure ??= error
    }
  }
  const any = uuid.test(wanted) ? await store.checkpoints.find(wanted as CheckpointId) : undefined
  if (any !== undefined) return any
  const colon = wanted.lastIndexOf(":")
  if (colon > 0) {
    const other = await findSession(context, wanted.slice(0, colon))
    if (other !== undefined) return await getCheckpoint(context, other, wanted.slice(colon + 1))
  }
  throw await withNear(context, session, reference, failure)
}

async function withNear(context: Context, session: Session, reference: string, cause: unknown): Promise<KeepupError> {
  const { store } = await context.openRuntime()
  const all = await store.checkpoints.list(session.id, { limit: 1_000 })
  const whose = `Session "${cut(oneLine(session.name), 40)}" (${shortId(session.id)})`
  const parent = session.parentSessionId && shortId(session.parentSessionId)
  const branch = parent === null ? "" : `\nThose of the session it came from are written ${parent}:REF.`
  if (all.length === 0) {
    return new KeepupError("NOT_FOUND", `${whose} has no checkpoint yet.`, {
      cause,
      hint: `Make one with \`keepup checkpoint create\`.${branch}`,
    })
  }
  const near = pickNear(all, reference)
  const lines = near.map((one) => {
    const [number, time] = [`#${one.number}`, relativeTime(one.createdAt, context.now)]
    const room = Math.min(context.width, 100) - number.length - time.length - 16
    return `  ${number}  ${cut(describe(one), Math.max(16, room))}  ${time}  ${shortId(one.id)}`
  })
  const more = all.length > near.length ? `\n\`keepup checkpoint list\` shows all ${all.length}.` : ""
  return new KeepupError("NOT_FOUND", `${whose} has no checkpoint ${JSON.stringify(reference)}.`, {
    cause,
    hint: `Near it ${near.length === 1 ? "is" : "are"}:\n${lines.join("\n")}${more}${branch}`,
    details: { near: near.map(({ id, number, name }) => ({ id, number, name })) },
  })
}

/** The nearest by number, or by name; else the newest. */
function pickNear(all: readonly Checkpoint[], reference: string): Checkpoint[] {
  const number = Number(/^#?(\d{1,15})$/.exec(reference.trim())?.[1] ?? Number.NaN)
  const names = suggest(
    reference,
    all.flatMap(({ name }) => name ?? []),
  )
  const sorted = Number.isNaN(number)
    ? [...all.filter(({ name }) => name !== null && names.includes(name)), ...all]
    : [...all].sort((a, b) => Math.abs(a.number - number) - Math.abs(b.number - number))
  return [...new Set(sorted)].slice(0, 3)
}

/** A name one can see. */
export function parseSessionName(name: string): string {
  if (name.trim() !== "") return name.trim()
  throw new KeepupError("INVALID_INPUT", "A session needs a name.")
}

/** Refuses to begin where no files can be kept: a home folder, the root, keepup's own. */
export async function requireWorkspace(context: Context): Promise<void> {
  const { snapshots } = await context.openRuntime()
  await snapshots(context.workspacePath).catch((error: unknown) => {
    const refusal = toRefusal(error, context)
    // no git, or a full disk, costs the files alone, and each checkpoint says so
    if (isKeepupError(refusal) && refusal.code === "INVALID_INPUT") throw refusal
  })
}

/** The error of snapshots that are refused, in words for who chose the folder; any other as it is. */
export function toRefusal(error: unknown, { workspacePath }: Context): unknown {
  if (!isKeepupError(error) || error.code !== "INVALID_INPUT" || error.details?.["workspace"] === undefined)
    return error
  return new KeepupError(
    "INVALID_INPUT",
    `${oneLine(workspacePath)} can't be a workspace: it holds more than one piece of work, or keepup's own files.`,
    { cause: error, hint: "Go to the folder of one project, or name it with --cwd." },
  )
}

/** What a command that is suggested needs to mean the same session: nothing, unless one was named. */
export function sessionOption({ flags }: Context, { id }: Session): string {
  return flags.session === undefined ? "" : ` -S ${shortId(id)}`
}

/** `"name"` or the trigger in words. */
export function describe({ name, trigger }: Checkpoint): string {
  return name === null ? triggerWords(trigger) : `"${oneLine(name)}"`
}

/** `run.ended` → `run ended`. */
export function triggerWords(trigger: string): string {
  return trigger.replace(/[.-]/g, " ")
}
