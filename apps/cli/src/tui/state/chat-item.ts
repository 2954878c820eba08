/** The things a conversation on the screen is made of. Plain data: no colours, no widths, no control characters to trust. */
import type { TodoItem } from "@ku0/agent-runtime"

interface ItemBase {
  /** Grows with every item; never used twice in one chat. */
  readonly id: number
}

/** What the user said. `isSending` until it is in the log: only then it counts as sent. */
export interface UserItem extends ItemBase {
  readonly kind: "user"
  readonly text: string
  readonly isSending: boolean
}

/** What the model said: Markdown. */
export interface AssistantItem extends ItemBase {
  readonly kind: "assistant"
  readonly text: string
  readonly isStreaming: boolean
  /** It was stopped, or its process died, before the model had ended. */
  readonly isCutOff: boolean
  /** Set for a later part of an answer that was too long to keep as one item: no mark, no space before it. */
  readonly isContinued: boolean
}

export type ToolStatus = "running" | "ok" | "error" | "cancelled" | "skipped" | "paused" | "in-doubt"

export interface ToolItem extends ItemBase {
  readonly kind: "tool"
  readonly callId: string
  readonly name: string
  /** What it is about, on one line: a path, a command. */
  readonly target: string
  readonly status: ToolStatus
  /** Its result on one line; what it said last while it runs. */
  readonly result: string
  /** All of its result, for the one who wants to see it; cut at `longestOutput`. */
  readonly output: string
  /** Whether its result is there; it comes just after its end. */
  readonly hasResult: boolean
  readonly durationMs: number | undefined
}

export type NoticeLevel = "info" | "warning" | "error"

/** Something keepup says: a stale file, a checkpoint that failed, another process at work, an error with its hint. */
export interface NoticeItem extends ItemBase {
  readonly kind: "notice"
  readonly level: NoticeLevel
  readonly text: string
  readonly hint: string | undefined
}

/** A checkpoint, with those made just before it: the end of a run makes two. */
export interface CheckpointItem extends ItemBase {
  readonly kind: "checkpoint"
  readonly number: number
  readonly trigger: string
  readonly name: string | null
  readonly earlier?: readonly Pick<CheckpointItem, "number" | "trigger" | "name">[]
}

/** The list the agent keeps of what is to be done, as it stood when a turn ended. */
export interface TodoBlockItem extends ItemBase {
  readonly kind: "todo"
  readonly items: readonly TodoItem[]
}

/**
 * The answer to a slash command. `plain`: lines as they are, drawn for the width of now (they may hold colours).
 * `patch`: a unified diff. `markdown`: prose.
 */
export interface BlockItem extends ItemBase {
  readonly kind: "block"
  readonly format: "plain" | "patch" | "markdown"
  readonly text: string
}

export type ChatItem = UserItem | AssistantItem | ToolItem | NoticeItem | CheckpointItem | TodoBlockItem | BlockItem

type WithoutId<Item> = Item extends ChatItem ? Omit<Item, "id"> : never

/** An item before it has its id. */
export type ItemDraft = WithoutId<ChatItem>

/** Characters of a tool's output that are kept to be shown. */
export const longestOutput = 100_000
