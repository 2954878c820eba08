/** Restore or branch: first the plan, then the question, then what was done and how to take it back. */
import { toKeepupError } from "@ku0/agent-runtime-core"
import { useEffect, useReducer } from "react"
import type { CheckpointJson, RestoreAnswer } from "../../api.js"
import { api } from "../client.js"
import { plural } from "../format.js"
import {
  canConfirm,
  pickedOf,
  type RestoreAction,
  type RestoreChoice,
  type RestoreState,
  reduceRestore,
  startRestore,
  toRestoreBody,
} from "../state/restore-state.js"
import { goTo } from "../use-route.js"
import { visibleName } from "../visible-text.js"
import { Button, Loading } from "./basics.js"
import { CallProblem } from "./call-problem.js"
import { Dialog } from "./dialog.js"
import { PlanView } from "./plan-view.js"

interface RestoreDialogProps {
  readonly checkpoint: CheckpointJson
  readonly sessionName: string
  readonly isBranch: boolean
  /** Only this file, to begin with. */
  readonly path?: string | undefined
  readonly onClose: () => void
  /** Must not throw. Says what was done. */
  readonly onDone: (words: string) => void
}

export function RestoreDialog({ checkpoint, sessionName, isBranch, path, onClose, onDone }: RestoreDialogProps) {
  const [state, dispatch] = useReducer(reduceRestore, { isBranch, path }, startRestore)
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
  }, [phase, choice.mode, choice.only, sessionId, id])

  const confirm = () => {
    if (state.phase !== "planned") return
    const sent = choice.paths === null ? choice : { ...choice, paths: pickedOf(choice, state.plan) }
    dispatch({ type: "confirmed" })
    api.restore(sessionId, id, toRestoreBody(sent, false)).then(
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
          {phase === "planned" || phase === "restoring" ? (
            <PlanView
              answer={state.plan}
              mode={choice.mode}
              picked={choice.paths}
              onPick={(paths) => dispatch({ type: "picked", paths })}
            />
          ) : null}
          {phase === "failed" ? <CallProblem error={state.error} /> : null}
        </>
      )}
    </Dialog>
  )
}

const modes = [
  { mode: "both", isPicked: false, label: "Files and conversation" },
  { mode: "files", isPicked: false, label: "Only files" },
  { mode: "files", isPicked: true, label: "Only the files I choose" },
  { mode: "conversation", isPicked: false, label: "Only the conversation" },
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
  const shown = choice.isBranch ? modes.filter(({ mode }) => mode !== "files") : modes
  return (
    <fieldset className="modes" disabled={isOff}>
      <legend>What to bring back</legend>
      {shown.map(({ mode, isPicked, label }) => (
        <label key={label}>
          <input
            type="radio"
            name="mode"
            checked={choice.mode === mode && (choice.paths !== null) === isPicked}
            onChange={() =>
              dispatch({ type: "chosen", choice: { ...choice, mode, only: null, paths: isPicked ? [] : null } })
            }
          />
          {label}
        </label>
      ))}
    </fieldset>
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
          isOff={!canConfirm(state)}
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
