/** What lies over the conversation for a while: the timeline, help, sessions, a tool's output, a restore to confirm. */
import type { CheckpointId, SessionId } from "@ku0/agent-runtime"

/** A checkpoint in the timeline. Branches follow the checkpoint they left from, one level deeper. */
export interface TimelineRow {
  readonly checkpointId: CheckpointId
  readonly sessionId: SessionId
  readonly sessionName: string
  readonly number: number
  readonly messageIndex: number
  readonly trigger: string
  readonly name: string | null
  readonly isPinned: boolean
  readonly createdAt: number
  /** `3 +40 -2`, `same`, `failed`. */
  readonly files: string
  /** 0 for the session of the chat and those it came from, 1 for a branch of it, and so on. */
  readonly depth: number
  /** Whether it belongs to the session of the chat. */
  readonly isOwn: boolean
  /** Whether the row begins a session: the view may show the session's name there. */
  readonly isFirstOfSession: boolean
}

export interface DiffPreview {
  readonly status: "loading" | "ready" | "failed"
  /** What changed since the checkpoint: a line for each file, then the patch. The reason if it failed. */
  readonly stat: string
  readonly patch: string
}

export interface TimelineOverlay {
  readonly kind: "timeline"
  /** Oldest first. */
  readonly rows: readonly TimelineRow[]
  readonly selected: number
  readonly preview: DiffPreview
}

export interface SessionRow {
  readonly sessionId: SessionId
  readonly shortId: string
  readonly name: string
  readonly status: string
  readonly messageCount: number
  readonly checkpointCount: number
  readonly updatedAt: number
  /** 0 for a session of its own, more for a branch. */
  readonly depth: number
  /** Number of the checkpoint it left from. */
  readonly fromCheckpoint: number | undefined
  readonly isOwn: boolean
}

export interface SessionsOverlay {
  readonly kind: "sessions"
  readonly rows: readonly SessionRow[]
  readonly selected: number
}

export interface HelpRow {
  /** `/rewind <#>`. */
  readonly usage: string
  readonly summary: string
}

export interface HelpOverlay {
  readonly kind: "help"
  readonly commands: readonly HelpRow[]
  readonly keys: readonly HelpRow[]
}

/** A long text to scroll in: the output of a tool. The view keeps where it has been scrolled to. */
export interface TextOverlay {
  readonly kind: "text"
  readonly title: string
  readonly text: string
  readonly format: "plain" | "patch"
}

/** Before files are changed: the plan, and a yes or no. */
export interface ConfirmOverlay {
  readonly kind: "confirm"
  /** `Restore?` or `Restore as a new session?`. */
  readonly question: string
  /** The plan as `checkpoint restore` prints it; may hold colours. */
  readonly plan: string
}

export type Overlay = TimelineOverlay | SessionsOverlay | HelpOverlay | TextOverlay | ConfirmOverlay
