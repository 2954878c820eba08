/** Restore or branch: first the plan, then the question, then what was done and how to take it back. */
import { toKeepupError } from "@ku0/agent-runtime-core"
import { useEffect, useReducer } from "react"
import type { CheckpointJson, Holder, RestoreAnswer } from "../../api.js"
import { api } from "../client.js"
import { plural } from "../format.js"
import { describeHolder } from "../state/labels.js"
import {
  type RestoreAction,
  type RestoreChoice,
  type RestoreState,
  reduceRestore,
  startRestore,
  toRestoreBody,
} from "../state/restore-state.js"
import { goTo } from "../use-route.js"
import { visibleName } from "../visible-text.js"
import { Button, Loading, Problem } from "./basics.js"
import { Dialog } from "./dialog.js"
import { PlanView } from "./plan-view.js"

interface RestoreDialogProps {
  readonly checkpoint: CheckpointJson
  readonly sessionName: string
  readonly isBranch: boolean
  readonly onClose: () => void
  /** Must not throw. Says what was done. */
  readonly onDone: (words: string) => void
}

export function RestoreDialog({ checkpoint, sessionName, isBranch, onClose, onDone }: RestoreDialogProps) {
  const [state, dispatch] = useReducer(reduceRestore, isBranch, startRestore)
  const { choice, phase } = state
  const { id, sessionId, number } = checkpoint

  // the plan is asked for whenever what would be done changes
  // biome-ignore lint/correctness/useExhaustiveDependencies: a name changes nothing in the plan
  useEffect(() => {
    if (phase !== "planning") return
    let isHere = true
    const settle = (action: RestoreAction) => {
      if (isHere) dispatch(action)
    }
    api.restore(sessionId, id, toRestoreBody(choice, true)).then(
      (plan) => settle({ type: "planned", choice, plan }),
      (error: unknown) => settle({ type: "failed", error: toKeepupError(error) }),
    )
    return () => {
      isHere = false
    }
  }, [phase, choice.mode, sessionId, id])

  const confirm = () => {
    dispatch({ type: "confirmed" })
    api.restore(sessionId, id, toRestoreBody(choice, false)).then(
      (answer) => {
        dispatch({ type: "done", answer })
        if (!isBranch) onDone(`Restored to checkpoint #${number}. Undo is at hand.`)
      },
      (error: unknown) => dispatch({ type: "failed", error: toKeepupError(error) }),
    )
  }
  const close = () => {
    if (phase !== "restoring") onClose()
  }
  const title = isBranch
    ? `Branch from #${number}`
    : `Restore #${number}${checkpoint.name ? ` ${visibleName(checkpoint.name)}` : ""}`
  return (
    <Dialog
      title={title}
      onClose={close}
      footer={<Footer state={state} onConfirm={confirm} onClose={close} dispatch={dispatch} />}
    >
      {phase === "done" ? (
        <Done answer={state.answer} isBranch={isBranch} number={number} />
      ) : (
        <>
          <p>
            {isBranch
              ? "A new session goes on from this checkpoint. The original session is preserved."
              : "Makes this checkpoint the present. Everything as it is now is kept first, so you can undo it."}
          </p>
          {isBranch ? (
            <label className="form">
              Name of the new session
              <input
                value={choice.branchName}
                maxLength={500}
                placeholder={`${visibleName(sessionName)} (rewind from #${number})`}
                onChange={(event) => dispatch({ type: "named", branchName: event.target.value })}
              />
            </label>
          ) : null}
          <ModeChoice choice={choice} isOff={phase === "restoring"} dispatch={dispatch} />
          {phase === "planning" ? <Loading what="the plan" /> : null}
          {phase === "planned" || phase === "restoring" ? <PlanView answer={state.plan} mode={choice.mode} /> : null}
          {phase === "failed" ? <Failed state={state} /> : null}
        </>
      )}
    </Dialog>
  )
}

const modes = [
  ["both", "Files and conversation"],
  ["files", "Only files"],
  ["conversation", "Only the conversation"],
] as const

function ModeChoice({
  choice,
  isOff,
  dispatch,
}: {
  choice: RestoreChoice
  isOff: boolean
  dispatch: (action: RestoreAction) => void
}) {
  const shown = choice.isBranch ? modes.filter(([mode]) => mode !== "files") : modes
  return (
    <fieldset className="modes" disabled={isOff}>
      <legend>What to bring back</legend>
      {shown.map(([mode, label]) => (
        <label key={mode}>
          <input
            type="radio"
            name="mode"
            checked={choice.mode === mode}
            onChange={() => dispatch({ type: "chosen", choice: { ...choice, mode } })}
          />
          {label}
        </label>
      ))}
    </fieldset>
  )
}

/** A session that runs is the one failure everybody meets: it says who, since when, and what to do. */
function Failed({ state }: { readonly state: Extract<RestoreState, { readonly phase: "failed" }> }) {
  const { error } = state
  const holder = error.details as Partial<Holder> | undefined
  if (error.code !== "SESSION_RUNNING") return <Problem error={error} />
  const isKnown = holder?.pid !== undefined && holder.since !== undefined && holder.host !== undefined
  return (
    <Problem error={error}>
      {isKnown ? (
        <p>Held by {visibleName(describeHolder({ purpose: "a run", ...holder } as Holder, Date.now()))}.</p>
      ) : null}
      <p>Nothing was changed.</p>
    </Problem>
  )
}

interface FooterProps {
  readonly state: RestoreState
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly dispatch: (action: RestoreAction) => void
}

function Footer({ state, onConfirm, onClose, dispatch }: FooterProps) {
  const { phase, choice } = state
  if (phase === "done") {
    const { session } = state.answer
    return choice.isBranch && session ? (
      <Button
        kind="primary"
        onClick={() => {
          onClose()
          goTo({ page: "session", sessionId: session.id })
        }}
      >
        Open the new session
      </Button>
    ) : (
      <Button kind="primary" onClick={onClose}>
        Close
      </Button>
    )
  }
  return (
    <>
      <Button onClick={onClose} isOff={phase === "restoring"}>
        Cancel
      </Button>
      {phase === "failed" ? (
        <Button kind="primary" onClick={() => dispatch({ type: "retried" })}>
          Try again
        </Button>
      ) : (
        <Button
          kind="primary"
          icon={choice.isBranch ? "branch" : "restore"}
          onClick={onConfirm}
          isOff={phase !== "planned"}
        >
          {phase === "restoring" ? "Working…" : choice.isBranch ? "Make the branch" : "Restore"}
        </Button>
      )}
    </>
  )
}

function Done({ answer, isBranch, number }: { answer: RestoreAnswer; isBranch: boolean; number: number }) {
  const { counts } = answer
  return (
    <div role="status">
      <p>
        <b>
          {isBranch
            ? `Rewound to checkpoint #${number}. Original session preserved.`
            : `Restored to checkpoint #${number}.`}
        </b>
      </p>
      <p>
        {plural(counts.write, "file")} written, {plural(counts.delete, "file")} deleted.
        {isBranch ? "" : " The bar on top of the session takes it back."}
      </p>
    </div>
  )
}
