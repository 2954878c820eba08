/** What the page says for triggers, statuses, reasons and events: one place, the glossary's words. Pure. */
import type { CheckpointTrigger, SessionStatus, SkipReason } from "@ku0/agent-runtime-core"
import type { EntryJson, Holder } from "../../api.js"
import { clockTime, dateOf } from "../format.js"
import { firstLine } from "../visible-text.js"

export const triggerLabels: Readonly<Record<CheckpointTrigger, string>> = {
  "run.ended": "run ended",
  "turn.ended": "turn ended",
  "phase.ended": "phase ended",
  "negotiation.resolved": "negotiation resolved",
  "tool.ended": "tool ended",
  "task.completed": "task completed",
  "agent.spawned": "agent spawned",
  interval: "interval",
  manual: "manual",
  "before-restore": "before restore",
  "session.started": "session started",
  exit: "exit",
}

/** What each status means, for those who wonder. */
export const statusHints: Readonly<Record<SessionStatus, string>> = {
  active: "An agent works on it, or could at any time.",
  paused: "It waits. Go on with: keepup resume",
  completed: "Its last run ended well.",
  failed: "Its last run failed.",
  stopped: "Someone stopped it.",
  interrupted: "The process that held it died. The next keepup command recovers it.",
}

export const skipReasons: Readonly<Record<SkipReason, string>> = {
  "too-large": "too large",
  unreadable: "could not be read",
  vanished: "vanished while it was read",
  changing: "kept changing while it was read",
  special: "not a file, a folder or a link",
  "time-budget": "time ran out",
  outside: "outside the workspace",
  ignored: "ignored then",
}

/** "a run, process 4711 on host, since 10:15:00" */
export function describeHolder({ purpose, pid, host, since }: Holder, now: number): string {
  const day = dateOf(since) === dateOf(now) ? "" : `${dateOf(since)} `
  return `${purpose} (process ${pid} on ${host}), since ${day}${clockTime(since)}`
}

const telling = ["number", "trigger", "name", "turn", "outcome", "phase", "reason", "path", "title", "mode"]

/** One line about an entry that is not a message. */
export function describeEntry({ type, data }: Pick<EntryJson, "type" | "data">): string {
  const facts = (typeof data === "object" && data !== null ? data : {}) as Record<string, unknown>
  if (type === "message:added") {
    const message = facts["message"] as { role?: string; content?: string } | undefined
    return firstLine(message?.content ?? "", 160)
  }
  return telling
    .flatMap((key) => {
      const value = facts[key]
      if (typeof value === "number") return [key === "number" ? `#${value}` : `${key} ${value}`]
      return typeof value === "string" && value !== "" ? [firstLine(value, 80)] : []
    })
    .join(" · ")
}
