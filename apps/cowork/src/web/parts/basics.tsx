/** Small parts every page uses. */
import type { KeepupError, SessionStatus } from "@ku0/agent-runtime-core"
import type { ReactNode } from "react"
import { dateTime, timeAgo } from "../format.js"
import { statusHints } from "../state/labels.js"
import { formatRoute, type Route } from "../state/route.js"
import { useNow } from "../use-now.js"
import { visibleName } from "../visible-text.js"
import { Icon, type IconName } from "./icon.js"

/** A name from outside: a file, a session, a folder. What could mislead in it is visible. */
export function Name({ children, isCode = false }: { readonly children: string; readonly isCode?: boolean }) {
  return <bdi className={isCode ? "name code" : "name"}>{visibleName(children)}</bdi>
}

export function Time({ at }: { readonly at: number }) {
  const now = useNow()
  return (
    <time dateTime={new Date(at).toISOString()} title={dateTime(at)}>
      {timeAgo(at, now)}
    </time>
  )
}

export function Status({ status }: { readonly status: SessionStatus }) {
  return (
    <span className={`status status-${status}`} title={statusHints[status]}>
      {status}
    </span>
  )
}

export function Go({ to, className, children, ...rest }: GoProps) {
  return (
    <a href={formatRoute(to)} className={className} {...rest}>
      {children}
    </a>
  )
}

interface GoProps {
  readonly to: Route
  readonly className?: string
  readonly children: ReactNode
  readonly tabIndex?: number
  readonly "data-row"?: number
  readonly "aria-current"?: "page" | "true" | undefined
  readonly "aria-label"?: string
  readonly title?: string
}

/** A button that shows only its icon: for what is done seldom. Its name is there for everyone all the same. */
export function IconButton({ name, icon, onClick }: { name: string; icon: IconName; onClick: () => void }) {
  return (
    <button type="button" className="button button-quiet" aria-label={name} title={name} onClick={onClick}>
      <Icon name={icon} />
    </button>
  )
}

interface ButtonProps {
  readonly children: ReactNode
  readonly onClick: () => void
  readonly icon?: IconName
  readonly kind?: "primary" | "plain" | "quiet"
  readonly isOff?: boolean
  readonly isPressed?: boolean
  readonly title?: string
}

export function Button({ children, onClick, icon, kind = "plain", isOff = false, isPressed, title }: ButtonProps) {
  return (
    <button
      type="button"
      className={`button button-${kind}`}
      onClick={onClick}
      disabled={isOff}
      aria-pressed={isPressed}
      title={title}
    >
      {icon ? <Icon name={icon} /> : null}
      <span>{children}</span>
    </button>
  )
}

/** What went wrong and what to do next; `children` for what the page can offer. */
export function Problem({ error, children }: { readonly error: KeepupError; readonly children?: ReactNode }) {
  return (
    <div className="notice notice-problem" role="alert">
      <Icon name="warning" />
      <div>
        <p>{visibleName(error.message)}</p>
        {error.hint ? <p className="muted">{visibleName(error.hint)}</p> : null}
        {children}
      </div>
    </div>
  )
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  )
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="loading" role="status">
      Loading {what}…
    </p>
  )
}

/** Lines added and removed, in colours and in words. */
export function Counts({ insertions, deletions }: { readonly insertions: number; readonly deletions: number }) {
  return (
    <span className="counts">
      <span className="plus">
        +{insertions}
        <span className="hidden"> lines added</span>
      </span>{" "}
      <span className="minus">
        −{deletions}
        <span className="hidden"> lines removed</span>
      </span>
    </span>
  )
}
