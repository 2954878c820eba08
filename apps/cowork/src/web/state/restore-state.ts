/** A restore or a rewind on its way: choose, look at the plan, confirm, done. Nothing changes before `confirmed`. Pure. */
import type { KeepupError } from "@ku0/agent-runtime-core"
import type { RestoreAnswer, RestoreBody, RestoreJson } from "../../api.js"

export interface RestoreChoice {
  readonly mode: RestoreJson["mode"]
  /** As a new session; the original stays. */
  readonly isBranch: boolean
  readonly branchName: string
}

export type RestoreState =
  | { readonly phase: "planning"; readonly choice: RestoreChoice }
  | { readonly phase: "planned"; readonly choice: RestoreChoice; readonly plan: RestoreAnswer }
  | { readonly phase: "restoring"; readonly choice: RestoreChoice; readonly plan: RestoreAnswer }
  | { readonly phase: "done"; readonly choice: RestoreChoice; readonly answer: RestoreAnswer }
  | { readonly phase: "failed"; readonly choice: RestoreChoice; readonly error: KeepupError }

export type RestoreAction =
  | { readonly type: "chosen"; readonly choice: RestoreChoice }
  | { readonly type: "named"; readonly branchName: string }
  | { readonly type: "planned"; readonly choice: RestoreChoice; readonly plan: RestoreAnswer }
  | { readonly type: "confirmed" }
  | { readonly type: "done"; readonly answer: RestoreAnswer }
  | { readonly type: "failed"; readonly error: KeepupError }
  | { readonly type: "retried" }

export function startRestore(isBranch: boolean): RestoreState {
  return { phase: "planning", choice: { mode: "both", isBranch, branchName: "" } }
}

export function reduceRestore(state: RestoreState, action: RestoreAction): RestoreState {
  switch (action.type) {
    case "chosen":
      return state.phase === "restoring" ? state : { phase: "planning", choice: action.choice }
    case "named":
      return { ...state, choice: { ...state.choice, branchName: action.branchName } }
    case "planned":
      // an answer to an older choice is late: it is not the plan of what would be done
      return state.phase === "planning" && action.choice.mode === state.choice.mode
        ? { phase: "planned", choice: state.choice, plan: action.plan }
        : state
    case "confirmed":
      return state.phase === "planned" ? { ...state, phase: "restoring" } : state
    case "done":
      return state.phase === "restoring" ? { phase: "done", choice: state.choice, answer: action.answer } : state
    case "failed":
      return { phase: "failed", choice: state.choice, error: action.error }
    case "retried":
      return state.phase === "failed" ? { phase: "planning", choice: state.choice } : state
  }
}

/** What is sent for a choice. */
export function toRestoreBody({ mode, isBranch, branchName }: RestoreChoice, dryRun: boolean): RestoreBody {
  const branch = branchName.trim() === "" ? true : branchName.trim()
  return { mode, dryRun, planLimit: 500, ...(isBranch ? { branch } : {}) }
}
