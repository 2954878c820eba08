/** Tabs that are links: each has an address. Arrow keys move between them. */
import { Fragment, type KeyboardEvent, type ReactNode } from "react"

export interface Tab {
  readonly id: string
  readonly label: string
  readonly href: string
  readonly count?: number | undefined
}

export function Tabs({ label, tabs, current }: { label: string; tabs: readonly Tab[]; current: string }): ReactNode {
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0
    if (step === 0) return
    const links = [...event.currentTarget.querySelectorAll("a")]
    const at = links.indexOf(document.activeElement as HTMLAnchorElement)
    links[(at + step + links.length) % links.length]?.focus()
    event.preventDefault()
  }
  return (
    <nav className="tabs" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map((tab) => (
        <Fragment key={tab.id}>
          <a href={tab.href} className="tab" aria-current={tab.id === current ? "page" : undefined}>
            {tab.label}
            {tab.count === undefined ? null : <span className="tab-count">{tab.count.toLocaleString("en")}</span>}
          </a>
        </Fragment>
      ))}
    </nav>
  )
}
