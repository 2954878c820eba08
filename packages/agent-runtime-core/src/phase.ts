/** The phase machine: the only way a session's status changes. Pure; an event that does not fit the phase is refused. */
import type { SessionPhase, SessionStatus } from "./session.js"

const atRest: readonly SessionPhase[] = ["idle", "paused", "interrupted", "completed", "failed", "stopped"]
const alive: readonly SessionPhase[] = ["idle", "running", "restoring"]
const open: readonly SessionPhase[] = [...alive, "paused", "interrupted"]

interface Transition {
  readonly from: readonly SessionPhase[]
  readonly to: SessionPhase
}

const transitions: Readonly<Record<string, Transition>> = {
  "session:resumed": { from: ["idle", "paused", "interrupted", "completed", "failed", "stopped"], to: "idle" },
  "session:paused": { from: ["idle", "running"], to: "paused" },
  "session:interrupted": { from: alive, to: "interrupted" },
  "session:recovered": { from: ["interrupted"], to: "paused" },
  "session:restore-started": { from: atRest, to: "restoring" },
  "session:restore-failed": { from: ["restoring"], to: "idle" },
  // idle: with the conversation, the jump before it has put the session at rest already
  "checkpoint:restored": { from: ["restoring", "idle"], to: "idle" },
  "run:started": { from: ["idle"], to: "running" },
  "run:ended": { from: ["running"], to: "idle" },
}

/** The phase after an event, the same phase for events that do not matter, `undefined` for one that may not happen now. */
export function nextPhase(phase: SessionPhase, type: string, data?: unknown): SessionPhase | undefined {
  if (type === "session:ended") return open.includes(phase) ? outcomeOf(data) : undefined
  if (!Object.hasOwn(transitions, type)) return phase
  const { from, to } = transitions[type] as Transition
  return from.includes(phase) ? to : undefined
}

/** The events that may change a phase. */
export const phaseEvents: readonly string[] = [...Object.keys(transitions), "session:ended"]

export function isSessionPhase(value: unknown): value is SessionPhase {
  return [...atRest, ...alive].some((phase) => phase === value)
}

/** What people see of a phase. */
export function statusOfPhase(phase: SessionPhase): SessionStatus {
  return phase === "idle" || phase === "running" || phase === "restoring" ? "active" : phase
}

function outcomeOf(data: unknown): SessionPhase {
  const outcome = (data as { outcome?: unknown } | null | undefined)?.outcome
  return outcome === "failed" || outcome === "stopped" ? outcome : "completed"
}
