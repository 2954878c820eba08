/** `checkpoint create`: keeps the workspace and the conversation as they are now. */
import { readFileSync } from "node:fs"
import { basename, resolve } from "node:path"
import {
  type Checkpoint,
  checkpointToJson,
  type ErrorCode,
  KeepupError,
  listCheckpointFiles,
  type Runtime,
  type Session,
  shortId,
} from "@ku0/agent-runtime"
import { describeFiles, isFirst } from "../../checkpoint-table.js"
import type { Command } from "../../command.js"
import type { Context } from "../../context.js"
import { oneLine, plural } from "../../output/text.js"
import { findSession, requireWorkspace, sessionOption } from "../../references.js"

export const createCommand: Command = {
  summary: "keep the files and the conversation as they are now",
  description: [
    "Works in any folder: where there is no session yet, one is started. Every file is kept except what ignore rules leave " +
      "out and files that are too large; the checkpoint says what it does not hold.",
  ],
  options: [
    { flags: "-n, --name <NAME>", summary: "what to call it" },
    { flags: "-m, --note <TEXT>", summary: "why it was made" },
    { flags: "--state <FILE>", summary: "a JSON object to keep with it (- reads standard input)", completes: "file" },
  ],
  examples: [
    { command: "keepup checkpoint create --name before-refactor", does: "Before something risky" },
    { command: "keepup checkpoint create -m 'tests pass'", does: "With a note to yourself" },
  ],
  exits: ["NOT_FOUND", "SESSION_RUNNING", "CONFLICT"],
  async run(context, input) {
    const state = await readState(context, input.option("state"))
    const runtime = await context.openRuntime({ isForCheckpoint: true })
    const found = await findSession(context)
    const make = async () => {
      if (found === undefined) await requireWorkspace(context)
      context.signal.throwIfAborted()
      const session = found ?? (await startSession(context, runtime))
      const taken = runtime.manager.take({
        sessionId: session.id,
        trigger: "manual",
        signal: context.signal,
        ...(input.has("name") && { name: input.option("name") ?? "" }),
        ...(input.has("note") && { note: input.option("note") ?? "" }),
        ...(state && { state }),
      })
      const checkpoint = await taken.catch(async (error) => {
        if (found === undefined) await runtime.store.sessions.delete(session.id) // nothing came of it
        throw error
      })
      return { session, checkpoint: checkpoint as Checkpoint }
    }
    const words = { stopped: "No checkpoint was made; the next one begins anew." }
    const { session, checkpoint } = await context.uninterrupted(make, words)
    if (found === undefined) tellStarted(context, session)
    const files = isFirst(checkpoint) ? (await listCheckpointFiles(runtime, checkpoint)).length : undefined
    context.answer({ checkpoint: checkpointToJson(checkpoint) }, () => describe(context, checkpoint, session, files))
    const problem = problemOf(checkpoint)
    if (problem !== undefined) context.endWith(problem.code ?? "UNAVAILABLE") // it is there, and not what was wanted
  },
}

/** Why the files could not be kept. */
function problemOf({ metadata }: Checkpoint): { code?: ErrorCode; hint?: string } | undefined {
  return metadata["snapshotError"] as { code?: ErrorCode; hint?: string } | undefined
}

async function startSession({ workspacePath }: Context, { store }: Runtime): Promise<Session> {
  return await store.sessions.create({ workspacePath, name: basename(workspacePath), agentType: "manual" })
}

function tellStarted(context: Context, { id, workspacePath }: Session): void {
  context.remark(`There was no session in ${oneLine(workspacePath)} yet: started ${shortId(id)}.`)
}

async function readState(context: Context, file: string | undefined): Promise<Record<string, unknown> | undefined> {
  if (file === undefined) return undefined
  const { machine } = context
  try {
    const text = file === "-" ? await machine.readInput() : readFileSync(resolve(machine.currentDirectory, file))
    const value: unknown = JSON.parse(text.toString("utf8"))
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === "ENOENT") throw new KeepupError("NOT_FOUND", `There is no file ${file}.`, { cause })
    throw new KeepupError("INVALID_INPUT", `The state in ${file} can't be read: ${message}.`, { cause })
  }
  throw new KeepupError("INVALID_INPUT", `The state in ${file} must be a JSON object.`)
}

function describe(context: Context, checkpoint: Checkpoint, session: Session, files: number | undefined): string {
  const name = checkpoint.name === null ? "" : ` "${oneLine(checkpoint.name)}"`
  const skipped = checkpoint.snapshot?.skipped ?? []
  const back = `keepup checkpoint restore ${checkpoint.number}${sessionOption(context, session)}`
  const lines = [
    `Checkpoint #${checkpoint.number}${name} created at message #${checkpoint.messageIndex} of "${oneLine(session.name)}".`,
    checkpoint.snapshot === null
      ? ["It holds the conversation alone: the files could not be kept.", problemOf(checkpoint)?.hint ?? ""]
          .join(" ")
          .trim()
      : `Files: ${describeFiles(checkpoint, files)}. Go back with: ${back}`,
  ]
  if (skipped.length > 0) {
    const shown = skipped.slice(0, 5).map(({ path, reason }) => `${oneLine(path)} (${reason})`)
    const more = skipped.length > 5 ? ` and ${plural(skipped.length - 5, "more", "more")}` : ""
    lines.push(`Not in it: ${shown.join(", ")}${more}.`)
  }
  return lines.join("\n")
}
