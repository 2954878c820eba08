/** A restore or a rewind on its way: choose, look at the plan, confirm, done. Nothing changes before `confirmed`. Pure. */
import type { KeepupError } from "@ku0/agent-runtime-core"
import type { RestoreAnswer, RestoreBody, RestoreJson } from "../../api.js"

export interface RestoreChoice {
  readonly mode: RestoreJson["mode"]
  /** As a new session; the original stays. */
  readonly isBranch: boolean
  readonly branchName: string
  /** The plan is of this file alone; null for all of them. */
  readonly only: string | null
  /** Only these of the plan's files; null for all of them. */
  readonly paths: readonly string[] | null
}

export type RestoreState =
  | { readonly phase: "planning"; readonly choice: RestoreChoice }
  | { readonly phase: "planned"; readonly choice: RestoreChoice; readonly plan: RestoreAnswer }
  | { readonly phase: "restoring"; readonly choice: RestoreChoice; readonly plan: RestoreAnswer }
  | { readonly phase: "done"; readonly choice: RestoreChoice; readonly answer: RestoreAnswer }
  | { readonly phase: "failed"; readonly choice: RestoreChoice; readonly error: KeepupError }

export type RestoreAction =
  | { readonly type: "chosen"; readonly choice: RestoreChoice }
  | { readonly type: "picked"; readonly paths: readonly string[] }
  | { readonly type: "named"; readonly branchName: string }
  | { readonly type: "planned"; readonly choice: RestoreChoice; readonly plan: RestoreAnswer }
  | { readonly type: "confirmed" }
  | { readonly type: "done"; readonly answer: RestoreAnswer }
  | { readonly type: "failed"; readonly error: KeepupError }
  | { readonly type: "retried" }

export function startRestore({
  isBranch,
  path,
}: {
  readonly isBranch: boolean
  readonly path?: string | undefined
}): RestoreState {
  const picked =
    path === undefined
      ? ({ mode: "both", only: null, paths: null } as const)
      : ({ mode: "files", only: path, paths: [path] } as const)
  return { phase: "planning", choice: { ...picked, isBranch, branchName: "" } }
}

export function reduceRestore(state: RestoreState, action: RestoreAction): RestoreState {
  switch (action.type) {
    case "chosen":
      return state.phase === "restoring" ? state : { phase: "planning", choice: action.choice }
    case "picked":
      return state.phase === "planned" ? { ...state, choice: { ...state.choice, paths: action.paths } } : state
    case "named":
      return { ...state, choice: { ...state.choice, branchName: action.branchName } }
    case "planned":
      // an answer to an older choice is late: it is not the plan of what would be done
      return state.phase === "planning" && hasSamePlan(action.choice, state.choice)
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

function hasSamePlan(one: RestoreChoice, other: RestoreChoice): boolean {
  return one.mode === other.mode && one.only === other.only
}

/** What is sent for a choice. The plan is that of all files, so that one can choose among them, or of one file alone. */
export function toRestoreBody(choice: RestoreChoice, dryRun: boolean): RestoreBody {
  const { mode, isBranch, branchName, only } = choice
  const paths = dryRun ? (only === null ? null : [only]) : choice.paths
  const branch = branchName.trim() === "" ? true : branchName.trim()
  return {
    mode,
    dryRun,
    planLimit: 500,
    ...(isBranch ? { branch } : {}),
    ...(paths === null ? {} : { paths: [...paths] }),
  }
}

/** The chosen paths that the plan would change; one that is as then already, or was never there, is none of them. */
export function pickedOf({ paths }: RestoreChoice, { plan }: RestoreAnswer): readonly string[] {
  const known = new Set([...plan.write, ...plan.delete])
  return (paths ?? []).filter((path) => known.has(path))
}

/** Whether the button may be pressed: with a plan, and with at least one file if only chosen ones are wanted. */
export function canConfirm(state: RestoreState): boolean {
  if (state.phase !== "planned") return false
  return state.choice.paths === null || pickedOf(state.choice, state.plan).length > 0
}
