/** The state of the chat after an action. Pure: the same actions give the same screen. */
import type { ChatAction } from "./chat-action.js"
import { type AssistantItem, type ChatItem, type ItemDraft, longestOutput, type ToolItem } from "./chat-item.js"
import { type ChatState, settledWindow } from "./chat-state.js"
import { moveSelection } from "./reduce-overlay.js"
import { settleLength } from "./split-stream.js"

export function reduceChat(state: ChatState, action: ChatAction): ChatState {
  return settle(apply(state, action))
}

function apply(state: ChatState, action: ChatAction): ChatState {
  switch (action.type) {
    case "item-added":
      return add(state, action.item)
    case "message-sending":
      return add(state, { kind: "user", text: action.text, isSending: true })
    case "message-sent":
      return messageSent(state, action.text)
    case "message-refused":
      return handBack({ ...state, live: state.live.filter((item) => !isSending(item)) }, action.text)
    case "message-queued":
      return { ...state, queued: [...state.queued, action.text] }
    case "queue-taken":
      return { ...state, queued: state.queued.slice(1) }
    case "queue-cleared":
      return { ...state, queued: [] }
    case "text-streamed":
      return streamed(state, action.text)
    case "stream-restarted":
      return { ...state, live: state.live.filter((item) => !isStreaming(item)), streamedAway: 0 }
    case "answer-added":
      return answered(state, action.text)
    case "stream-cut-off":
      return { ...endStream(state, { isCutOff: true }), streamedAway: 0 }
    case "tool-started":
      return started(state, action)
    case "tool-progressed":
      return changeTool(state, action.callId, { result: lastLine(action.text) })
    case "tool-result":
      return changeTool(withTool(state, action), action.callId, {
        result: firstLine(action.content),
        output: shorten(action.content),
        hasResult: true,
      })
    case "tool-ended":
      return changeTool(withTool(state, action), action.callId, {
        status: action.status,
        durationMs: action.durationMs,
      })
    case "todo-changed":
      return { ...state, todo: action.items }
    default:
      return applyFacts(state, action)
  }
}

/** What is not about the items of the conversation. */
function applyFacts(state: ChatState, action: ChatAction): ChatState {
  switch (action.type) {
    case "phase-changed": {
      const { phase, activity = "", at = state.activitySince } = action
      const isLeaveArmed = state.isLeaveArmed && phase !== "running"
      return { ...state, phase, activity, activitySince: at, isLeaveArmed }
    }
    case "activity-changed":
      return { ...state, activity: action.activity, activitySince: action.at }
    case "status-changed":
      return { ...state, status: { ...state.status, ...action.status } }
    case "usage-added": {
      const { inputTokens, outputTokens, cost } = state.status
      const status = {
        ...state.status,
        inputTokens: inputTokens + action.inputTokens,
        outputTokens: outputTokens + action.outputTokens,
        cost: action.cost === undefined ? cost : (cost ?? 0) + action.cost,
      }
      return { ...state, status }
    }
    case "question-asked":
      return { ...state, question: action.question }
    case "question-answered":
      return { ...state, question: undefined }
    case "overlay-opened":
      return { ...state, overlay: action.overlay }
    case "overlay-closed":
      return { ...state, overlay: undefined }
    case "row-selected":
      return { ...state, overlay: moveSelection(state.overlay, action.index) }
    case "preview-changed":
      return state.overlay?.kind === "timeline"
        ? { ...state, overlay: { ...state.overlay, preview: action.preview } }
        : state
    case "leave-armed":
      return { ...state, isLeaveArmed: action.isArmed }
    case "text-handed-back":
      return handBack(state, action.text)
    case "session-switched": {
      const fresh = { inputTokens: 0, outputTokens: 0, cost: undefined, isPaused: false }
      const status = { ...state.status, ...fresh, ...action.status }
      return { ...settleAll(state), status, todo: action.todo, streamedAway: 0 }
    }
    case "left":
      return { ...settleAll(state), phase: "left", farewell: action.farewell, overlay: undefined, question: undefined }
    default:
      return state
  }
}

function add(state: ChatState, item: ItemDraft): ChatState {
  const last = state.live.at(-1)
  if (item.kind === "checkpoint" && last?.kind === "checkpoint") {
    const { number, trigger, name, earlier = [] } = last
    const joined: ChatItem = { ...item, id: last.id, earlier: [...earlier, { number, trigger, name }] }
    return { ...state, live: [...state.live.slice(0, -1), joined] }
  }
  const made = { ...item, id: state.nextId } as ChatItem
  return { ...state, live: [...state.live, made], nextId: state.nextId + 1 }
}

function messageSent(state: ChatState, text: string): ChatState {
  const sending = state.live.find(isSending)
  if (sending === undefined) return add(state, { kind: "user", text, isSending: false })
  const sent: ChatItem = { ...sending, kind: "user", text, isSending: false }
  return { ...state, live: state.live.map((item) => (item === sending ? sent : item)) }
}

/** A message that could not be sent must not replace what is being typed: the view puts it before that. */
function handBack(state: ChatState, text: string): ChatState {
  return { ...state, handedBack: { serial: state.handedBack.serial + 1, text } }
}

function streamed(state: ChatState, text: string): ChatState {
  const current = state.live.find(isStreaming)
  if (current === undefined) {
    const isContinued = state.streamedAway > 0
    return add(state, { kind: "assistant", text, isStreaming: true, isCutOff: false, isContinued })
  }
  const longer = { ...current, text: current.text + text }
  const away = settleLength(longer.text)
  if (away === 0) return { ...state, live: state.live.map((item) => (item === current ? longer : item)) }
  const first: AssistantItem = { ...current, text: longer.text.slice(0, away), isStreaming: false }
  const rest: AssistantItem = { ...longer, id: state.nextId, text: longer.text.slice(away), isContinued: true }
  return {
    ...state,
    live: state.live.flatMap((item) => (item === current ? [first, rest] : [item])),
    nextId: state.nextId + 1,
    streamedAway: state.streamedAway + away,
  }
}

/** The log has the last word: what streamed is replaced by what was kept. */
function answered(state: ChatState, text: string): ChatState {
  const current = state.live.find(isStreaming)
  const away = Math.min(state.streamedAway, text.length)
  const rest = { ...state, streamedAway: 0 }
  if (current !== undefined) return endStream(rest, { text: text.slice(away) || current.text })
  const isNothing = text.slice(away).trim() === ""
  if (isNothing) return rest
  return add(rest, {
    kind: "assistant",
    text: text.slice(away),
    isStreaming: false,
    isCutOff: false,
    isContinued: away > 0,
  })
}

function endStream(state: ChatState, change: Partial<AssistantItem>): ChatState {
  return {
    ...state,
    live: state.live.map((item) => (isStreaming(item) ? { ...item, ...change, isStreaming: false } : item)),
  }
}

function started(state: ChatState, action: { callId: string; name: string; target: string }): ChatState {
  const { callId, name, target } = action
  const isKnown = state.live.some((item) => item.kind === "tool" && item.callId === callId)
  if (isKnown) return changeTool(state, callId, { status: "running", target, hasResult: false })
  return add(state, newTool(callId, name, target))
}

/** A call that was refused or skipped ends without having started. */
function withTool(state: ChatState, { callId, name }: { callId: string; name: string }): ChatState {
  const isKnown = state.live.some((item) => item.kind === "tool" && item.callId === callId)
  return isKnown ? state : add(state, newTool(callId, name, ""))
}

function newTool(callId: string, name: string, target: string): ItemDraft {
  const status = "running" as const
  return {
    kind: "tool",
    callId,
    name,
    target,
    status,
    result: "",
    output: "",
    hasResult: false,
    durationMs: undefined,
  }
}

function changeTool(state: ChatState, callId: string, change: Partial<ToolItem>): ChatState {
  return {
    ...state,
    live: state.live.map((item) => (item.kind === "tool" && item.callId === callId ? { ...item, ...change } : item)),
  }
}

/** Moves what can't change any more from the front of the live items to the settled ones, and lets old ones go. */
function settle(state: ChatState): ChatState {
  const open = state.live.findIndex((item, at) => !isDone(item) || mayBeJoined(state, item, at))
  const count = open < 0 ? state.live.length : open
  if (count === 0) return state
  return {
    ...state,
    live: state.live.slice(count),
    settled: [...state.settled, ...state.live.slice(0, count)].slice(-settledWindow),
    settledCount: state.settledCount + count,
  }
}

/** Whatever was under way stays on the screen as it is. */
function settleAll(state: ChatState): ChatState {
  const live = state.live
    .filter((item) => !isSending(item))
    .map((item): ChatItem => {
      if (item.kind === "assistant" && item.isStreaming) return { ...item, isStreaming: false, isCutOff: true }
      if (item.kind === "tool" && !isDone(item)) {
        return { ...item, status: item.status === "running" ? "cancelled" : item.status, hasResult: true }
      }
      return item
    })
  return settle({ ...state, live })
}

/** A checkpoint stays open while another one may follow it at once: they share a line. */
function mayBeJoined({ phase, live }: ChatState, { kind }: ChatItem, at: number): boolean {
  return kind === "checkpoint" && at === live.length - 1 && (phase === "running" || phase === "busy")
}

function isDone(item: ChatItem): boolean {
  if (item.kind === "user") return !item.isSending
  if (item.kind === "assistant") return !item.isStreaming
  if (item.kind === "tool") {
    return item.status === "in-doubt" || item.status === "paused" || (item.status !== "running" && item.hasResult)
  }
  return true
}

function isSending(item: ChatItem): boolean {
  return item.kind === "user" && item.isSending
}

function isStreaming(item: ChatItem): item is AssistantItem {
  return item.kind === "assistant" && item.isStreaming
}

function firstLine(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  const more = lines.length > 1 ? ` (+${lines.length - 1} ${lines.length === 2 ? "line" : "lines"})` : ""
  return `${(lines[0] ?? "").trim().slice(0, 400)}${more}`
}

function lastLine(text: string): string {
  return (text.trimEnd().split("\n").at(-1) ?? "").slice(0, 400)
}

function shorten(text: string): string {
  return text.length <= longestOutput ? text : `${text.slice(0, longestOutput)}\n… the rest is in the log`
}
