/** What the views may ask for. Nothing here throws or has to be awaited: what becomes of it is seen in the state. */
import type { ChatState } from "./state/chat-state.js"

export interface CompletionOption {
  /** What replaces the range. */
  readonly value: string
  readonly label: string
  readonly detail: string
}

export interface Completions {
  /** The range of the text that a chosen option replaces. */
  readonly from: number
  readonly to: number
  readonly options: readonly CompletionOption[]
}

export interface ChatController {
  getState(): ChatState
  /** Calls back after every change, at most once a frame while an answer streams. Returns the way to stop. */
  subscribe(listener: () => void): () => void
  /** A message, or a slash command if it begins with a slash. While the agent works, messages wait in the queue. */
  send(text: string): void
  /** Ctrl-C: stops the turn; pressed again, or while nothing runs and twice, it leaves with a checkpoint. */
  interrupt(): void
  /** Leaves with a checkpoint: `/quit`, Ctrl-D on an empty input, a signal. */
  leave(): void
  /** The key of a choice of the question that is asked. Keys that are none are ignored. */
  answer(key: string): void
  /** What may stand at the cursor: slash commands and their arguments, files after an `@`. Empty options: nothing to offer. */
  complete(text: string, cursor: number): Promise<Completions>
  /** What stands in the input and was not sent. Called at every change; kept for the next start. */
  keepDraft(text: string): void
  /** Earlier messages of this workspace, newest first, for the history of the input. */
  listInputHistory(): readonly string[]
  openHelp(): void
  openSessions(): void
  openTimeline(): void
  /** The output of the newest tool call; called again while it is open, of the one before it. */
  openOutput(): void
  closeOverlay(): void
  /** In the timeline or the list of sessions. */
  select(index: number): void
  /** Enter in the list of sessions: goes on with the selected one. */
  resumeSelected(): void
  /** In the timeline: shows the plan and asks. `r` restores in this session; Enter rewinds into a new one. */
  restoreSelected(): void
  rewindSelected(): void
  /** Takes the last restore back, from the timeline or by `/undo`. */
  undo(): void
  /** The answer to a confirm overlay. */
  confirm(isSure: boolean): void
  /** The view tells the size, so that plain blocks are drawn for it. */
  resize(columns: number, rows: number): void
}
