/** When a checkpoint is asked for. Pure: an event in, a trigger or nothing out. */
import { type CheckpointTrigger, checkpointTriggers, KeepupError, normalizeEventName } from "@ku0/agent-runtime-core"

/** The events that make a checkpoint unless told otherwise. */
export const defaultCheckpointEvents: readonly string[] = [
  "run.ended",
  "negotiation.resolved",
  "phase.ended",
  "turn.ended",
  "task.completed",
  "agent.spawned",
]

export interface CheckpointPolicy {
  /** The types of all events that may ask for one, if that is known. */
  readonly events?: readonly string[]
  /** Why this event asks for a checkpoint, or `undefined` if it does not. */
  triggerOf(eventType: string, data: unknown): CheckpointTrigger | undefined
}

/**
 * `on` names events, with a dot or a colon. Triggers are a closed list: an event of another agent counts as the end of a
 * phase, and its own name stands in the log right before the checkpoint.
 */
export function createCheckpointPolicy(on: readonly string[] = defaultCheckpointEvents): CheckpointPolicy {
  const asked = new Set(on.map(requireEventName))
  return {
    events: [...asked],
    triggerOf(eventType, data) {
      if (!asked.has(eventType)) return undefined
      if (eventType === "tool:ended" && !hasEffects(data)) return undefined
      const trigger = eventType.replace(":", ".") as CheckpointTrigger
      return checkpointTriggers.includes(trigger) ? trigger : "phase.ended"
    },
  }
}

/** A tool's result counts unless the tool says that it changed nothing. */
function hasEffects(data: unknown): boolean {
  return (data as { hasEffects?: unknown } | null)?.hasEffects !== false
}

function requireEventName(name: string): string {
  const normal = normalizeEventName(name)
  if (normal !== undefined) return normal
  throw new KeepupError("INVALID_INPUT", `checkpoint.on names no event: ${JSON.stringify(name)}.`, {
    hint: "Event names look like run.ended or run:ended.",
  })
}
