/** `checkpoint restore`: shows the plan, asks, does it, and says how to take it back. */
import {
  type Checkpoint,
  KeepupError,
  planRestore,
  planToJson,
  type RestoreMode,
  restoreCheckpoint,
  restoreToJson,
  rewindToCheckpoint,
  type Session,
  sessionToJson,
  shortId,
} from "@ku0/agent-runtime"
import type { Command, Input } from "../../command.js"
import type { Context } from "../../context.js"
import { oneLine } from "../../output/text.js"
import { getCheckpoint, getSession, parseSessionName } from "../../references.js"
import { renderPlan, renderRestored } from "../../restore-talk.js"
import { toWorkspacePaths } from "../../workspace-paths.js"

export const restoreCommand: Command = {
  summary: "make a checkpoint the present: files, conversation, or both",
  description: [
    "Shows what will be written, deleted and left alone, and asks. Everything as it is now is kept in a safety checkpoint " +
      "first, so `keepup checkpoint undo` gives back every file, byte for byte. Files that were never captured (ignored, too " +
      "large, outside the workspace) are not touched. Refused while a task is running there.",
    "With --branch the original session stays as it is, and a new one goes on from the checkpoint.",
  ],
  arguments: [{ name: "REF", summary: "3, a name, latest, or a part of an id", completes: "checkpoint" }],
  options: [
    { flags: "--files", summary: "only the files" },
    { flags: "--conversation", summary: "only the conversation" },
    { flags: "--path <P...>", summary: "only these files and folders", completes: "file" },
    { flags: "--branch [NAME]", summary: "as a new session; the original stays" },
    { flags: "--dry-run", summary: "only show the plan" },
    { flags: "-y, --yes", summary: "do not ask" },
  ],
  examples: [
    { command: "keepup checkpoint restore 3", does: "Go back to #3, after a look at the plan" },
    { command: "keepup checkpoint restore latest --files --path src/parser.ts", does: "One file only" },
    {
      command: 'keepup checkpoint restore 3 --branch "second attempt" --yes',
      does: "Try again, keep the first attempt",
    },
  ],
  exits: ["NOT_FOUND", "SESSION_RUNNING", "CONFLICT"],
  async run(context, input) {
    const session = await getSession(context)
    const checkpoint = await getCheckpoint(context, session, input.argument("REF"))
    const paths = input.values("path")
    await restore(context, checkpoint, {
      mode: modeOf(input),
      ...(paths && { paths: toWorkspacePaths(context, session.workspacePath, paths) }),
      ...(input.has("branch") && { branch: branchOf(input.option("branch")) }),
      isDry: input.flag("dry-run"),
      isSure: input.flag("yes"),
    })
  },
}

export interface RestoreRequest {
  readonly mode: RestoreMode
  readonly paths?: readonly string[]
  /** A new session, by this name or by the usual one. */
  readonly branch?: string | true
  readonly isDry: boolean
  readonly isSure: boolean
  /** What is said when it is done, instead of the usual. */
  readonly said?: (session: Session) => string
}

const words = { finishing: "The restore", stopped: "Stopped before any file was changed." }

/** The conversation of a restore; `rewind` has the same one. */
export async function restore(context: Context, checkpoint: Checkpoint, request: RestoreRequest): Promise<void> {
  const runtime = await context.openRuntime()
  const session = await runtime.store.sessions.get(checkpoint.sessionId)
  const { mode, paths, branch } = request
  const wanted = { checkpoint, mode, ...(paths && { paths }), signal: context.signal }
  const plan = await planRestore(runtime, wanted)
  const shown = branch === undefined ? plan : { ...plan, messagesHidden: 0 }
  if (request.isDry) {
    const { id: checkpointId, sessionId } = checkpoint
    const draft = { id: null, checkpointId, safetyCheckpointId: null, sessionId, mode }
    context.answer({ restore: draft, plan: planToJson(plan), applied: false }, () =>
      [renderPlan(context, checkpoint, session, shown), "", "Nothing was changed: this was a dry run."].join("\n"),
    )
    return
  }
  if (!request.isSure) {
    // what is asked about is shown, also with --quiet
    if (!context.flags.json) context.warn(`${renderPlan(context, checkpoint, session, shown)}\n`)
    await context.confirm(branch === undefined ? "Restore?" : "Restore as a new session?")
  }
  const options = { ...wanted, ...(!request.isSure && { agreed: plan }) }
  if (branch === undefined) {
    const done = await context.uninterrupted(() => restoreCheckpoint(runtime, options), words)
    context.answer({ restore: restoreToJson(done.restore), plan: planToJson(done.plan) }, () =>
      renderRestored(checkpoint, done.plan, done.safety),
    )
    return
  }
  const name = typeof branch === "string" ? { name: branch } : {}
  const made = await context.uninterrupted(() => rewindToCheckpoint(runtime, { ...options, ...name }), words)
  const empty = { id: null, checkpointId: checkpoint.id, safetyCheckpointId: null, sessionId: made.session.id, mode }
  const document = {
    restore: made.restore ? { ...restoreToJson(made.restore), mode } : empty,
    plan: planToJson(made.plan),
    session: sessionToJson(made.session),
  }
  context.answer(document, () =>
    [
      request.said?.(made.session) ?? `Restored #${checkpoint.number} as a new session. Original session preserved.`,
      `The new session is ${shortId(made.session.id)} "${oneLine(made.session.name)}".`,
      `Go on with: keepup resume ${shortId(made.session.id)}`,
      ...(made.restore ? ["Take the files back with: keepup checkpoint undo"] : []),
    ].join("\n"),
  )
}

function branchOf(name: string | undefined): string | true {
  return name === undefined ? true : parseSessionName(name)
}

function modeOf(input: Input): RestoreMode {
  const [files, conversation] = [input.flag("files"), input.flag("conversation")]
  if (conversation && input.has("path")) {
    throw new KeepupError("INVALID_INPUT", "--path is about files: it does not go with --conversation.")
  }
  if (files === conversation) return input.has("path") ? "files" : "both"
  return files ? "files" : "conversation"
}
