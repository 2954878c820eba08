/** A window that asks before it does one thing, says when that was refused, and closes when it is done. */
import { type KeepupError, toKeepupError } from "@ku0/agent-runtime-core"
import { type FormEvent, type ReactNode, useId, useState } from "react"
import { Button } from "./basics.js"
import { CallProblem } from "./call-problem.js"
import { Dialog } from "./dialog.js"

interface AskDialogProps {
  readonly title: string
  /** The button's word. */
  readonly verb: string
  readonly isDangerous?: boolean
  readonly isOff?: boolean
  readonly children: ReactNode
  readonly onClose: () => void
  /** Rejects when it was refused; must close the window when it was done. */
  readonly onConfirm: () => Promise<void>
}

export function AskDialog({ title, verb, isDangerous = false, isOff = false, ...rest }: AskDialogProps) {
  const { children, onClose, onConfirm } = rest
  const form = useId()
  const [error, setError] = useState<KeepupError | null>(null)
  const [isAsking, setAsking] = useState(false)
  const close = () => {
    if (!isAsking) onClose()
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    setAsking(true)
    setError(null)
    onConfirm().catch((cause: unknown) => {
      setError(toKeepupError(cause))
      setAsking(false)
    })
  }
  const footer = (
    <>
      <Button onClick={close} isOff={isAsking}>
        Cancel
      </Button>
      <button
        type="submit"
        form={form}
        className={`button ${isDangerous ? "button-danger" : "button-primary"}`}
        disabled={isOff || isAsking}
      >
        {isAsking ? "Working…" : verb}
      </button>
    </>
  )
  return (
    <Dialog title={title} onClose={close} footer={footer}>
      <form id={form} onSubmit={onSubmit} className="form">
        {children}
      </form>
      {error ? <CallProblem error={error} /> : null}
    </Dialog>
  )
}
