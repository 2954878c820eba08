/** What an event of a session means for the screen. The same for events of our own runs and for entries of others. */
import type { EventData, Message, TodoItem } from "@ku0/agent-runtime"
import { oneLine } from "../../output/text.js"
import { triggerWords } from "../../references.js"
import type { ChatAction } from "../state/chat-action.js"
import type { NoticeLevel } from "../state/chat-item.js"

export interface ShownEvent {
  readonly type: string
  readonly data: unknown
}

/** `now` is for how long something has been going on. */
export function showEvent({ type, data }: ShownEvent, now: number): readonly ChatAction[] {
  const show = shown[type]
  return show === undefined ? [] : show((data ?? {}) as never, now)
}

export function notice(level: NoticeLevel, text: string, hint?: string): ChatAction {
  return { type: "item-added", item: { kind: "notice", level, text, hint } }
}

const shown: Readonly<Record<string, (data: never, now: number) => readonly ChatAction[]>> = {
  "message:added": ({ message }: { message: Message }) => showMessage(message),
  "turn:started": (_: unknown, at: number) => [{ type: "activity-changed", activity: "Thinking", at }],
  // outside agents put anything into these: only what folds and restores rely on is checked before it is kept
  "turn:ended": ({ usage, outcome }: Partial<EventData<"turn:ended">>) => [
    ...(outcome === "completed" ? [] : [{ type: "stream-cut-off" } as const]),
    ...(usage == null ? [] : [usageAdded(usage)]),
  ],
  "tool:started": ({ callId, name, arguments: args }: EventData<"tool:started">, at: number) => [
    { type: "tool-started", callId, name, target: targetOf(args) },
    { type: "activity-changed", activity: `Running ${oneLine(name)}`, at },
    ...todoOf(name, args),
  ],
  "tool:progress": ({ callId, text }: EventData<"tool:progress">) => [
    { type: "tool-progressed", callId, text: oneLine(text.trimEnd().split("\n").at(-1) ?? "") },
  ],
  "tool:ended": ({ callId, name, outcome, durationMs }: EventData<"tool:ended">) => [
    { type: "tool-ended", callId, name, status: outcome, durationMs },
  ],
  "tool:in-doubt": ({ callId, name }: EventData<"tool:in-doubt">) => [
    { type: "tool-ended", callId, name, status: "in-doubt", durationMs: undefined },
  ],
  "checkpoint:created": ({ number, trigger, name }: EventData<"checkpoint:created">) => [
    { type: "item-added", item: { kind: "checkpoint", number, trigger: triggerWords(trigger), name } },
  ],
  "checkpoint:failed": ({ trigger, error }: EventData<"checkpoint:failed">) => [
    notice("warning", `Checkpoint (${triggerWords(trigger)}) failed: ${oneLine(error.message)}`, error.hint),
  ],
  "context:file-stale": ({ path }: Partial<EventData<"context:file-stale">>) => [
    notice("warning", `Stale file context detected: ${oneLine(String(path))}. Reload before editing.`),
  ],
  "agent:spawned": ({ agentType, task }: Partial<EventData<"agent:spawned">>) => [
    notice("info", `Agent spawned: ${oneLine(String(agentType))}${task == null ? "" : `: ${oneLine(String(task))}`}`),
  ],
}

function showMessage(message: Message): readonly ChatAction[] {
  if (message.role === "user") return [{ type: "message-sent", text: message.content }]
  if (message.role === "assistant") return [{ type: "answer-added", text: message.content }]
  if (message.role === "tool") {
    const { callId, name, content } = message
    return [{ type: "tool-result", callId, name, content }]
  }
  if (message.role === "summary") return [notice("info", "Older messages were summed up to make room.")]
  return message.role === "truncation" ? [notice("info", "Older messages were left out to make room.")] : []
}

function usageAdded(usage: NonNullable<EventData<"turn:ended">["usage"]>): ChatAction {
  const known = (count: unknown) => (typeof count === "number" ? count : undefined)
  const { inputTokens, outputTokens } = usage
  const cost = known(usage.cost)
  const tokens = { inputTokens: known(inputTokens) ?? 0, outputTokens: known(outputTokens) ?? 0 }
  return { type: "usage-added", ...tokens, ...(cost !== undefined && { cost }) }
}

/** The list is shown as the agent hands it over; its result only counts it. */
function todoOf(name: string, args: unknown): readonly ChatAction[] {
  const items = (args as { items?: unknown } | null)?.items
  if (name !== "todo_list" || !Array.isArray(items)) return []
  return [{ type: "todo-changed", items: items.filter(isTodo) }]
}

function isTodo(item: unknown): item is TodoItem {
  const { title, status } = (item ?? {}) as Record<string, unknown>
  return typeof title === "string" && typeof status === "string"
}

/** Arguments that say what a call is about, the first that is there. */
const telling = ["path", "command", "pattern", "query", "task", "from", "url"]

/** What a call is about, on one line. */
export function targetOf(args: unknown): string {
  if (typeof args !== "object" || args === null) return args === undefined ? "" : oneLine(String(args))
  const values = args as Record<string, unknown>
  const key = telling.find((name) => typeof values[name] === "string")
  if (key !== undefined) return oneLine(values[key] as string)
  if (Array.isArray(values["items"])) return `${values["items"].length} items`
  const edits = values["edits"] ?? values["files"]
  if (Array.isArray(edits)) {
    const paths = edits.flatMap((edit) => (typeof edit?.path === "string" ? [oneLine(edit.path)] : []))
    if (paths.length > 0) return [...new Set(paths)].join(", ")
  }
  const text = JSON.stringify(args)
  return text === "{}" ? "" : oneLine(text)
}
