/** Everything that can happen to the state of the chat. */
import type { TodoItem } from "@ku0/agent-runtime"
import type { ItemDraft, ToolStatus } from "./chat-item.js"
import type { ChatPhase, Question, StatusFacts } from "./chat-state.js"
import type { DiffPreview, Overlay } from "./overlay.js"

export type ChatAction =
  /** An item that can't change any more. Live items before it settle only when they are done; it is placed after them. */
  | { readonly type: "item-added"; readonly item: ItemDraft }
  | { readonly type: "message-sending"; readonly text: string }
  /** It is in the log now. Without one being sent (another process, a history) it is just added. */
  | { readonly type: "message-sent"; readonly text: string }
  /** It could not be sent: it goes back into the input. */
  | { readonly type: "message-refused"; readonly text: string }
  | { readonly type: "message-queued"; readonly text: string }
  /** The oldest one is about to be sent. */
  | { readonly type: "queue-taken" }
  | { readonly type: "queue-cleared" }
  | { readonly type: "text-streamed"; readonly text: string }
  /** The answer was begun again: what was streamed of it does not count. */
  | { readonly type: "stream-restarted" }
  /** The whole answer, as it is in the log. */
  | { readonly type: "answer-added"; readonly text: string }
  /** There will be no whole answer. */
  | { readonly type: "stream-cut-off" }
  | { readonly type: "tool-started"; readonly callId: string; readonly name: string; readonly target: string }
  | { readonly type: "tool-progressed"; readonly callId: string; readonly text: string }
  | { readonly type: "tool-result"; readonly callId: string; readonly name: string; readonly content: string }
  | {
      readonly type: "tool-ended"
      readonly callId: string
      readonly name: string
      readonly status: ToolStatus
      readonly durationMs: number | undefined
    }
  | { readonly type: "todo-changed"; readonly items: readonly TodoItem[] }
  | { readonly type: "phase-changed"; readonly phase: ChatPhase; readonly activity?: string; readonly at?: number }
  | { readonly type: "activity-changed"; readonly activity: string; readonly at: number }
  | { readonly type: "status-changed"; readonly status: Partial<StatusFacts> }
  | {
      readonly type: "usage-added"
      readonly inputTokens: number
      readonly outputTokens: number
      readonly cost?: number
    }
  | { readonly type: "question-asked"; readonly question: Question }
  | { readonly type: "question-answered" }
  | { readonly type: "overlay-opened"; readonly overlay: Overlay }
  | { readonly type: "overlay-closed" }
  /** In the timeline or the list of sessions; kept within its rows. */
  | { readonly type: "row-selected"; readonly index: number }
  | { readonly type: "preview-changed"; readonly preview: DiffPreview }
  | { readonly type: "leave-armed"; readonly isArmed: boolean }
  | { readonly type: "text-handed-back"; readonly text: string }
  /** The chat goes on with another session: live items settle as they are, counts begin anew. */
  | { readonly type: "session-switched"; readonly status: Partial<StatusFacts>; readonly todo: readonly TodoItem[] }
  | { readonly type: "left"; readonly farewell: string }
