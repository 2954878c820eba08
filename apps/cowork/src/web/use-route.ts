/** The route of the address bar, and the way to go elsewhere. */
import { useMemo, useSyncExternalStore } from "react"
import { formatRoute, parseRoute, type Route } from "./state/route.js"

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener)
  return () => removeEventListener("hashchange", listener)
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash)
  return useMemo(() => parseRoute(hash), [hash])
}

export function goTo(route: Route): void {
  location.hash = formatRoute(route)
}

/** Goes there without a step in the browser's history: a choice within a view. */
export function replaceRoute(route: Route): void {
  history.replaceState(null, "", formatRoute(route))
  dispatchEvent(new HashChangeEvent("hashchange"))
}
