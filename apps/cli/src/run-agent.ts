/** What `run` and `resume` share: the model, what is shown as it works, what is asked, and how its end is told. */
import { statSync } from "node:fs"
import { resolve } from "node:path"
import {
  type ApprovalMode,
  type Checkpoint,
  type InDoubtPolicy,
  KeepupError,
  type Model,
  type RunSessionResult,
  type Runtime,
  readScriptedModel,
  runSession,
  type Session,
  type SessionId,
  sessionToJson,
  shortId,
} from "@ku0/agent-runtime"
import { askApproval, askInDoubt } from "./ask-person.js"
import type { Input, OptionSpec } from "./command.js"
import type { Context } from "./context.js"
import { createRunView } from "./output/run-view.js"
import { oneLine, plural } from "./output/text.js"

/** The options `run` and `resume` have in common. */
export const agentOptions: readonly OptionSpec[] = [
  { flags: "--model <PROVIDER/NAME>", summary: "the model; the setting model unless told" },
  {
    flags: "--script <FILE>",
    summary: "answers from a file instead of a model: offline, the same every time",
    completes: "file",
  },
  { flags: "--approval <MODE>", summary: "for tools that change something", choices: ["ask", "auto", "deny"] },
  { flags: "--max-steps <N>", summary: "answers of the model at most; 100 unless told", isCount: true },
  {
    flags: "--in-doubt <CHOICE>",
    summary: "what becomes of calls that were in flight when the process died; asks unless told",
    choices: ["skip", "retry", "fail"],
  },
]

export interface AgentRequest {
  readonly session: Session
  readonly prompt?: string
  readonly from?: Checkpoint
}

/** Runs the agent in a session until it ends, and says how it ended. */
export async function runAgent(context: Context, input: Input, request: AgentRequest): Promise<void> {
  const runtime = await context.openRuntime()
  const choice = { script: input.option("script"), model: input.option("model") }
  const model = await openModel(context, choice, runtime, request)
  const view = createRunView(context)
  const mode = (input.option("approval") ?? runtime.config.approval) as ApprovalMode
  if (mode === "ask" && !canAsk(context)) {
    context.remark("Nobody can be asked here: calls that change something are refused. --approval auto allows them.")
  }
  const maxSteps = input.count("max-steps")
  const policy = input.option("in-doubt") as InDoubtPolicy | undefined
  // the run ends by itself at a signal: every step is closed and kept before the command does
  const result = await context.uninterrupted(() =>
    runSession(runtime, {
      sessionId: request.session.id,
      model,
      endSession: true,
      signal: context.signal,
      systemPrompt: systemPrompt(request.session),
      approval: { mode, ...(canAsk(context) && { ask: (call) => askApproval(context, view, call) }) },
      inDoubt: policy ?? (canAsk(context) ? (call) => askInDoubt(context, call) : "stop"),
      onEvent: view.show,
      onWarning: context.warn,
      ...(request.prompt !== undefined && { prompt: request.prompt }),
      ...(request.from && { from: request.from }),
      ...(maxSteps !== undefined && { maxSteps }),
    }),
  )
  view.end()
  tellEnd(context, result)
}

function canAsk({ machine, flags }: Context): boolean {
  return machine.canAsk && !flags.json
}

/** What the user chose for this run; what the session had before, or the setting, unless told. */
export interface ModelChoice {
  readonly script: string | undefined
  readonly model: string | undefined
  /** A script goes on from answer to answer over many prompts, instead of beginning anew with each. */
  readonly isContinued?: boolean
}

export async function openModel(
  context: Context,
  { script: given, model, isContinued = false }: ModelChoice,
  runtime: Runtime,
  { session, prompt, from }: AgentRequest,
): Promise<Model> {
  const { machine } = context
  const said = await countAnswers(runtime, session.id, from)
  const kept = session.metadata["script"]
  const script =
    given === undefined
      ? model === undefined && typeof kept === "string"
        ? kept
        : undefined
      : resolve(machine.currentDirectory, given)
  if (script !== undefined) {
    // a script that was begun goes on where it was; another one begins with its first answer
    const isFresh = isContinued ? kept !== script : given !== undefined || prompt !== undefined
    const begun = isFresh ? said : Number(session.metadata["scriptFrom"] ?? 0)
    await runtime.store.sessions.updateMetadata(session.id, { script, scriptFrom: begun })
    refuseFolder(script)
    return await readScriptedModel(script, { startAt: Math.max(0, said - begun), keepsRequests: false })
  }
  const reference = model ?? session.metadata["model"] ?? runtime.config.model
  if (typeof reference !== "string" || reference === "") {
    throw new KeepupError("INVALID_INPUT", "Which model?", {
      hint: "Name one with --model provider/name, or once and for all with `keepup config set model provider/name`.",
    })
  }
  const { createModel } = await import("@ku0/agent-runtime-integrations")
  const made = await createModel(reference, { environment: machine.environment })
  await runtime.store.sessions.updateMetadata(session.id, {
    model: reference,
    script: undefined,
    scriptFrom: undefined,
  })
  return made
}

function refuseFolder(script: string): void {
  if (!statSync(script, { throwIfNoEntry: false })?.isDirectory()) return
  throw new KeepupError("INVALID_INPUT", `The script ${script} is a folder.`, { hint: "Name a file of answers." })
}

/** Answers the model has given in the history the run goes on from. */
async function countAnswers({ store }: Runtime, id: SessionId, from: Checkpoint | undefined): Promise<number> {
  const end = from === undefined ? await store.log.head(id) : { sessionId: from.sessionId, seq: from.entrySeq }
  const { messages } = await store.log.fold(end)
  return messages.filter(({ role }) => role === "assistant").length
}

export function systemPrompt({ workspacePath }: Session): string {
  return (
    `You are a careful coding agent. You work in the folder ${workspacePath} with the tools you are given; paths are relative ` +
    "to it. Read before you edit, make small changes, run the tests, and say briefly what you did."
  )
}

/** The last words of a run. A failure is thrown, so that it is shown and ends the command as any error does. */
function tellEnd(context: Context, { session, run }: RunSessionResult): void {
  const id = shortId(session.id)
  const { outcome, steps, usage, answer } = run
  if (outcome === "in-doubt") {
    const calls = (run.inDoubt ?? []).map((call) => `  ${call.name}: ${oneLine(call.known.summary)}`)
    throw new KeepupError(
      "INVALID_INPUT",
      `${plural(calls.length, "tool call was", "tool calls were")} in flight when the process died, and nobody can be asked:\n${calls.join("\n")}`,
      { hint: `Decide with: keepup resume ${id} --in-doubt skip|retry|fail` },
    )
  }
  if (outcome === "cancelled") {
    throw new KeepupError("CANCELLED", "The run was stopped; everything up to here is kept.", {
      hint: `Go on with: keepup resume ${id}`,
    })
  }
  if (outcome === "failed") {
    const error = run.error ?? new KeepupError("INTERNAL", "The run failed.")
    throw new KeepupError(error.code, error.message, {
      cause: error,
      hint: [error.hint, `Everything up to here is kept. Go on with: keepup resume ${id}`].filter(Boolean).join("\n"),
    })
  }
  context.stream(
    { ok: true, session: sessionToJson(session), run: { outcome, steps, usage, answer: answer ?? null } },
    () => "",
  )
  const words = { completed: "Done", paused: "Paused", "step-limit": "Stopped at the step limit" }[outcome]
  const next = outcome === "completed" ? `keepup checkpoint list -S ${id}` : `keepup resume ${id}`
  context.remark(`${words}: session ${id} "${oneLine(session.name)}", ${plural(steps, "step")}.\nNext: ${next}`)
}
