/**
 * A run of the built-in agent: lease → fold the history → loop with every event in the log → checkpoints → release.
 * Killed anywhere, the next call with the same session goes on from there.
 */
import {
  type BusEvent,
  type Checkpoint,
  type HeldLease,
  KeepupError,
  type Model,
  type Session,
  type SessionId,
} from "@ku0/agent-runtime-core"
import {
  type ApprovalOptions,
  collectState,
  createModelSummariser,
  type InDoubtChooser,
  type InDoubtPolicy,
  type RetryPolicy,
  type RunResult,
  runAgentLoop,
} from "@ku0/agent-runtime-execution"
import { restoreCheckpoint, type SignalSource } from "@ku0/agent-runtime-persistence"
import { type AgentChildren, createAgentChildren } from "./agent-children.js"
import { createAgentTools } from "./agent-tools.js"
import { approvalRules } from "./config.js"
import { type HeldSession, holdSession } from "./hold-session.js"
import type { Runtime } from "./open-runtime.js"
import { isPauseRequested, withdrawPause } from "./pause-session.js"

export interface RunSessionOptions {
  readonly model: Model
  /** Without one the agent goes on from where the history ends. */
  readonly prompt?: string
  /** The session to go on with; a new one if not given. */
  readonly sessionId?: SessionId
  /** The new session's name; made from the prompt if not given. */
  readonly name?: string
  /** Go back to this checkpoint first. */
  readonly from?: Checkpoint
  /** `auto` unless told; the rules of the settings unless it has its own. */
  readonly approval?: ApprovalOptions
  readonly inDoubt?: InDoubtPolicy | InDoubtChooser
  readonly maxSteps?: number
  /** How often and how slowly a model that fails is asked again. */
  readonly retry?: Partial<RetryPolicy>
  readonly systemPrompt?: string
  /**
   * What the model can take in, in tokens; what the model says of itself unless told. Older messages are hidden behind a
   * summary when it fills up.
   */
  readonly windowTokens?: number
  readonly signal?: AbortSignal
  readonly signals?: SignalSource
  readonly onExit?: (signal: "SIGINT" | "SIGTERM") => void | Promise<void>
  /** Hears every event of the session, in order. */
  readonly onEvent?: (event: BusEvent) => void | Promise<void>
  readonly onWarning?: (message: string) => void
  /** True: the session ends with the run. Otherwise it waits for more. */
  readonly endSession?: boolean
  /** Set for a session another one spawned. */
  readonly spawnedBy?: SpawnedBy
}

export interface SpawnedBy {
  readonly sessionId: SessionId
  readonly callId: string
  readonly workspaceLease: HeldLease
  /** Whether it is asked to pause itself. */
  readonly isPauseRequested: () => Promise<boolean>
}

export interface RunSessionResult {
  readonly session: Session
  readonly run: RunResult
}

export async function runSession(runtime: Runtime, options: RunSessionOptions): Promise<RunSessionResult> {
  const { store } = runtime
  const session = await findOrCreate(runtime, options)
  const held = await holdSession(runtime, {
    sessionId: session.id,
    purpose: "run",
    ...(options.onWarning && { onWarning: options.onWarning }),
    ...(options.signals && { signals: options.signals }),
    ...(options.onExit && { onExit: options.onExit }),
    ...(options.spawnedBy && { workspaceLease: options.spawnedBy.workspaceLease }),
  })
  try {
    if (options.onEvent !== undefined) held.bus.on("*", options.onEvent)
    if (options.from !== undefined) {
      await restoreCheckpoint(runtime, { checkpoint: options.from, sessionId: session.id, lease: held.lease })
    }
    await keepBeginning(held, session, options)
    const run = await runLoop(runtime, held, session, options)
    if (options.endSession === true) await endSession(runtime, held, run)
    return { session: await store.sessions.get(session.id), run }
  } finally {
    await held.release()
  }
}

/**
 * What was there before the agent's first change can be had back, also what someone changed by hand since the last run.
 * A child has the checkpoint its parent took for it, and a restore has its own.
 */
async function keepBeginning(held: HeldSession, session: Session, options: RunSessionOptions): Promise<void> {
  if (options.spawnedBy !== undefined || options.from !== undefined) return
  const more = session.checkpointCount > 0 ? { onlyForFiles: true, note: "The files before the run" } : {}
  await held.checkpoints.take("session.started", more).catch(() => undefined) // the service has told the user
}

async function runLoop(
  runtime: Runtime,
  held: HeldSession,
  session: Session,
  options: RunSessionOptions,
): Promise<RunResult> {
  const { store } = runtime
  const approval = { mode: "auto" as const, rules: approvalRules(runtime.config), ...options.approval }
  const head = await store.log.head(session.id)
  const history = await store.log.fold(head)
  const state = await store.state.get(head)
  const { tools, tracker, todo } = createAgentTools(runtime, held, {
    workspacePath: session.workspacePath,
    state,
    approval,
    ...childrenOf(runtime, held, options),
  })
  try {
    await withdrawPause(runtime, session.id)
    return await runAgentLoop({
      model: options.model,
      tools,
      history,
      emit: held.emit,
      clock: store.context.clock,
      ids: store.context.ids,
      isPauseRequested: () => isAskedToPause(runtime, session.id, options),
      takeChangedState: collectState({ fileContext: tracker, todo }),
      findStartFacts: (callId) => findStartFacts(runtime, session.id, callId),
      signal: anySignal(options.signal, held.lease.lost),
      ...(options.prompt !== undefined && { prompt: options.prompt }),
      ...(options.systemPrompt !== undefined && { systemPrompt: options.systemPrompt }),
      ...(options.maxSteps !== undefined && { maxSteps: options.maxSteps }),
      ...(options.retry && { retry: options.retry }),
      approval,
      ...(options.inDoubt && { inDoubt: options.inDoubt }),
      fitContext: {
        windowTokens: options.windowTokens ?? options.model.windowTokens ?? Number.POSITIVE_INFINITY,
        summarise: createModelSummariser(options.model),
      },
    })
  } finally {
    await tracker.dispose()
  }
}

async function findOrCreate(runtime: Runtime, options: RunSessionOptions): Promise<Session> {
  if (options.sessionId !== undefined) return await runtime.store.sessions.get(options.sessionId)
  if (options.prompt === undefined) {
    throw new KeepupError("INVALID_INPUT", "A new session needs a prompt.", { hint: "Say what the agent is to do." })
  }
  const { spawnedBy } = options
  return await runtime.store.sessions.create({
    workspacePath: runtime.workspacePath,
    name: options.name ?? nameFrom(options.prompt),
    agentType: "keepup",
    taskDescription: options.prompt,
    ...(spawnedBy && { metadata: { spawnedBy: spawnedBy.sessionId, spawnCallId: spawnedBy.callId } }),
  })
}

function nameFrom(prompt: string): string {
  const line = prompt.trim().split("\n", 1)[0] as string
  return [...line].length <= 60 ? line : `${[...line].slice(0, 57).join("")}...`
}

/** How the session stands after a run that ends it. */
async function endSession(runtime: Runtime, held: HeldSession, run: RunResult): Promise<void> {
  const { phase } = await runtime.store.sessions.get(held.id)
  if (phase !== "idle") return
  if (run.outcome === "completed") await held.bus.emit("session:ended", { outcome: "completed" })
  else if (run.outcome === "failed") {
    await held.bus.emit("session:ended", { outcome: "failed", reason: run.error?.message ?? "The run failed." })
  } else if (run.outcome !== "in-doubt") await held.bus.emit("session:paused", { reason: run.outcome })
}

/** A child runs in the same workspace, under the workspace lease of its parent, and pauses with it. */
function childrenOf(runtime: Runtime, held: HeldSession, options: RunSessionOptions): AgentChildren {
  return createAgentChildren(runtime, held, {
    nameFrom,
    async run(child, callId, signal, onProgress) {
      const { run } = await runSession(runtime, {
        ...inherited(options),
        sessionId: child.id,
        ...(child.messageCount === 0 && { prompt: child.taskDescription }),
        signal,
        endSession: true,
        spawnedBy: {
          sessionId: held.id,
          callId,
          workspaceLease: held.workspaceLease,
          isPauseRequested: () => isAskedToPause(runtime, held.id, options),
        },
        onEvent: ({ type }) => onProgress(type),
      })
      return { outcome: run.outcome, content: run.answer ?? run.error?.message ?? "" }
    },
  })
}

/** Who is spawned by somebody who is asked to pause is asked too. */
async function isAskedToPause(runtime: Runtime, id: SessionId, { spawnedBy }: RunSessionOptions): Promise<boolean> {
  return (await isPauseRequested(runtime, id)) || ((await spawnedBy?.isPauseRequested()) ?? false)
}

/** What a child has of its parent: the model and what it may do, not what was asked. */
function inherited({ model, approval, inDoubt, retry, maxSteps, systemPrompt, ...more }: RunSessionOptions) {
  const { windowTokens, onWarning } = more
  return {
    model,
    ...(retry && { retry }),
    ...(approval && { approval }),
    ...(inDoubt && { inDoubt }),
    ...(maxSteps !== undefined && { maxSteps }),
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(windowTokens !== undefined && { windowTokens }),
    ...(onWarning && { onWarning }),
  }
}

/** The facts `tool:started` of a call carries, looked for from the newest entry on. */
async function findStartFacts(runtime: Runtime, sessionId: SessionId, callId: string) {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const page = await runtime.store.log.read(sessionId, { before, direction: "backward", limit: 200 })
    for (const { type, data } of page) {
      const started = data as { callId?: unknown; facts?: Readonly<Record<string, unknown>> }
      if (type === "tool:started" && started.callId === callId) return started.facts
    }
    const last = page.at(-1)
    if (last === undefined) return undefined
    before = last.seq
  }
}

function anySignal(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined))
}
