/** What surrounds every view: the skip link, the bar on top, and the place for the view. */
import { type ReactNode, useState } from "react"
import { applyTheme, nextTheme, readTheme } from "../theme.js"
import { useShortcuts } from "../use-shortcuts.js"
import { Go } from "./basics.js"
import { Icon } from "./icon.js"

const themeIcons = { system: "system", light: "sun", dark: "moon" } as const
const themeNames = { system: "as the system has it", light: "light", dark: "dark" } as const

export function Shell({ children, onHelp }: { readonly children: ReactNode; readonly onHelp: () => void }) {
  const [theme, setTheme] = useState(readTheme)
  const changeTheme = () => {
    const next = nextTheme(theme)
    applyTheme(next)
    setTheme(next)
  }
  useShortcuts({ t: changeTheme })
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the content
      </button>
      <header className="bar">
        <Go to={{ page: "sessions" }} className="brand" aria-label="keepup, all sessions">
          <svg width="20" height="20" viewBox="0 0 32 32" aria-hidden="true">
            <g fill="none" stroke="currentColor" strokeWidth="3" strokeLinecap="round">
              <path d="M11 7v18M11 19c0-5 10-3 10-8" />
            </g>
            <g fill="currentColor">
              <circle cx="11" cy="7" r="3.5" />
              <circle cx="11" cy="25" r="3.5" />
              <circle cx="21" cy="10" r="3.5" />
            </g>
          </svg>
          keepup
        </Go>
        <div className="bar-end">
          <button
            type="button"
            className="button button-quiet"
            onClick={changeTheme}
            aria-label={`Colours: ${themeNames[theme]}. Change`}
            title={`Colours: ${themeNames[theme]} (t)`}
          >
            <Icon name={themeIcons[theme]} />
          </button>
          <button
            type="button"
            className="button button-quiet"
            onClick={onHelp}
            title="Keys (?)"
            aria-label="Keys and help"
          >
            <kbd>?</kbd>
          </button>
        </div>
      </header>
      <main id="main" className="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}
