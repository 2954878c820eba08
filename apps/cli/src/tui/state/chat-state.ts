/**
 * All the chat shows. Items that can't change any more are settled: they are printed once, above the rest, and only the
 * newest of them stay here, so that a long chat takes no more memory than a short one.
 *
 * For whoever draws: print every settled item whose place (see `settledFrom`) was not printed yet, then forget it. Ink's
 * <Static> keeps all it ever wrote; its `useStdout().write` does not.
 */
import type { SessionId, TodoItem } from "@ku0/agent-runtime"
import type { ChatItem } from "./chat-item.js"
import type { Overlay } from "./overlay.js"

/** How many settled items stay in the state. */
export const settledWindow = 200

/**
 * `opening`: the store is not open yet. `idle`: it is the user's turn. `running`: the agent works. `stopping`: it was told
 * to stop. `busy`: keepup itself does something (a restore, an export). `elsewhere`: another process runs this session.
 * `left`: it is over.
 */
export type ChatPhase = "opening" | "idle" | "running" | "stopping" | "busy" | "elsewhere" | "leaving" | "left"

export interface StatusFacts {
  /** `undefined` until the first message makes a session. */
  readonly sessionId: SessionId | undefined
  readonly sessionShortId: string
  readonly sessionName: string
  readonly workspacePath: string
  /** `provider/name`, `script`, or empty if none is chosen. */
  readonly model: string
  readonly checkpointCount: number
  /** Files that differ from the newest checkpoint or were changed by the newest one; `undefined` if not known. */
  readonly changedFiles: number | undefined
  readonly inputTokens: number
  readonly outputTokens: number
  /** In US dollars; `undefined` if the model does not say. */
  readonly cost: number | undefined
  /** The session is paused: by `/pause`, or from outside. */
  readonly isPaused: boolean
}

export interface QuestionChoice {
  /** The key to press. */
  readonly key: string
  readonly label: string
}

/** Something the user has to decide before it goes on. It is shown in place, under the live items. */
export interface Question {
  /** `approval`: may this call run. `in-doubt`: what became of this call. `resume`: go on with the session that was cut off. */
  readonly kind: "approval" | "in-doubt" | "resume"
  readonly title: string
  /** More lines: the arguments of the call, what is known about it, a diff of what it would change. */
  readonly detail: string
  readonly detailFormat: "plain" | "patch"
  readonly choices: readonly QuestionChoice[]
  /** The choice Escape stands for. */
  readonly fallback: string
}

export interface ChatState {
  readonly phase: ChatPhase
  /** What is going on, in a few words, for the line of the spinner: `Thinking`, `Running run_command`. */
  readonly activity: string
  /** Since when, in milliseconds since 1970. */
  readonly activitySince: number
  /** The newest settled items, oldest first. */
  readonly settled: readonly ChatItem[]
  /** How many ever settled. */
  readonly settledCount: number
  /** Items that still change, oldest first: running tools, the answer that streams, a message that is being sent. */
  readonly live: readonly ChatItem[]
  readonly todo: readonly TodoItem[]
  /** Messages the user sent while the agent works: they follow when it ends. */
  readonly queued: readonly string[]
  readonly question: Question | undefined
  readonly overlay: Overlay | undefined
  readonly status: StatusFacts
  /** Ctrl-C was pressed: once more leaves. */
  readonly isLeaveArmed: boolean
  /** Text that goes into the input: a draft that was kept, a message that could not be sent. New when `serial` grew. */
  readonly handedBack: { readonly serial: number; readonly text: string }
  /** What is printed when the chat has ended: how to resume. */
  readonly farewell: string
  readonly nextId: number
  /** Characters of the answer that streams which have settled already, as items of their own. */
  readonly streamedAway: number
}

/** The place of the first item of `settled` among all that ever settled. */
export function settledFrom(state: ChatState): number {
  return state.settledCount - state.settled.length
}

export function startState(facts: { readonly workspacePath: string; readonly model: string }): ChatState {
  return {
    phase: "opening",
    activity: "",
    activitySince: 0,
    settled: [],
    settledCount: 0,
    live: [],
    todo: [],
    queued: [],
    question: undefined,
    overlay: undefined,
    status: {
      sessionId: undefined,
      sessionShortId: "",
      sessionName: "",
      workspacePath: facts.workspacePath,
      model: facts.model,
      checkpointCount: 0,
      changedFiles: undefined,
      inputTokens: 0,
      outputTokens: 0,
      cost: undefined,
      isPaused: false,
    },
    isLeaveArmed: false,
    handedBack: { serial: 0, text: "" },
    farewell: "",
    nextId: 1,
    streamedAway: 0,
  }
}
