/** A window over the page: the browser keeps the focus in it, Escape closes it, and the focus goes back to where it was. */
import { type ReactNode, useEffect, useId, useRef } from "react"
import { Icon } from "./icon.js"

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  readonly footer?: ReactNode
}

export function Dialog({ title, onClose, children, footer }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const before = document.activeElement
    element.current?.showModal()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      className="dialog"
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      // a browser may close it without asking, on a second Escape
      onClose={onClose}
    >
      <header className="dialog-head">
        <h2 id={heading}>{title}</h2>
        <button type="button" className="button button-quiet" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard */}
      <section className="dialog-body" tabIndex={0} aria-label={title}>
        {children}
      </section>
      {footer ? <footer className="dialog-foot">{footer}</footer> : null}
    </dialog>
  )
}
