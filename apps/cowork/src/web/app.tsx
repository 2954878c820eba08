/** The page: who may see it, where one is, and what surrounds every view. */
import { toKeepupError } from "@ku0/agent-runtime-core"
import { useEffect, useRef, useState } from "react"
import { api, onTokenRefused } from "./client.js"
import { ComparePage } from "./pages/compare-page.js"
import { ReplayPage } from "./pages/replay-page.js"
import { SessionPage } from "./pages/session-page.js"
import { SessionsPage } from "./pages/sessions-page.js"
import { TokenPage } from "./pages/token-page.js"
import { Go, Loading } from "./parts/basics.js"
import { Help } from "./parts/help.js"
import { Shell } from "./parts/shell.js"
import type { Route } from "./state/route.js"
import { forgetToken, keepToken, readToken } from "./token.js"
import { goTo, useRoute } from "./use-route.js"
import { useShortcuts } from "./use-shortcuts.js"

type Door = { readonly is: "opening" } | { readonly is: "open" } | { readonly is: "shut"; readonly why: string | null }

/** One code is good once: a second mount must not spend it again. */
let spending: Promise<string | null> | undefined

export function App({ code }: { readonly code: string | null }) {
  const [door, setDoor] = useState<Door>({ is: "opening" })
  useEffect(() => {
    let isHere = true
    spending ??= code === null ? Promise.resolve(null) : spendCode(code)
    spending.then((why) => {
      if (isHere) setDoor(readToken() === null || why !== null ? { is: "shut", why } : { is: "open" })
    })
    const stop = onTokenRefused(() => {
      forgetToken()
      setDoor({ is: "shut", why: "The server did not take the token. It may have been started anew." })
    })
    return () => {
      isHere = false
      stop()
    }
  }, [code])
  if (door.is === "opening") return <Loading what="keepup" />
  if (door.is === "shut") return <TokenPage why={door.why} onToken={() => setDoor({ is: "open" })} />
  return <Inside />
}

async function spendCode(code: string): Promise<string | null> {
  try {
    keepToken((await api.login(code)).token)
    return null
  } catch (error) {
    return readToken() === null ? toKeepupError(error).message : null
  }
}

function Inside() {
  const route = useRoute()
  const [isHelpOpen, setHelpOpen] = useState(false)
  useFocusOnArrival(route)
  useShortcuts({
    "?": () => setHelpOpen(true),
    escape: () => goUp(route),
    "/": () => document.querySelector<HTMLElement>("input[type=search]")?.focus(),
  })
  return (
    <Shell onHelp={() => setHelpOpen(true)}>
      <View route={route} />
      {isHelpOpen ? <Help onClose={() => setHelpOpen(false)} /> : null}
    </Shell>
  )
}

function View({ route }: { readonly route: Route }) {
  switch (route.page) {
    case "sessions":
      return <SessionsPage />
    case "session":
    case "checkpoint":
      return <SessionPage key={route.sessionId} route={route} />
    case "compare":
      return <ComparePage key={route.sessionId} sessionId={route.sessionId} otherId={route.otherId} />
    case "replay":
      return <ReplayPage key={`${route.sessionId} ${route.checkpointId}`} {...route} />
    case "unknown":
      return (
        <div className="empty">
          <h1>There is nothing at this address.</h1>
          <p>
            <Go to={{ page: "sessions" }}>Show all sessions</Go>
          </p>
        </div>
      )
  }
}

/** What had the focus may be gone in another view: the keys must not start from the top of the page again. */
function useFocusOnArrival(route: Route): void {
  const place = `${route.page} ${"sessionId" in route ? route.sessionId : ""}`
  const last = useRef(place)
  useEffect(() => {
    if (last.current === place) return
    last.current = place
    if (document.activeElement === null || document.activeElement === document.body) {
      document.getElementById("main")?.focus()
    }
  }, [place])
}

function goUp(route: Route): void {
  if (route.page === "sessions") return
  const isTop = route.page === "session" || route.page === "unknown"
  goTo(isTop ? { page: "sessions" } : { page: "session", sessionId: route.sessionId })
}
