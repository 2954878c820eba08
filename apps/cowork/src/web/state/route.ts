/** Where one is in the page, as the part of the address after `#`. Pure; the token never is part of it. */

export const checkpointTabs = ["changes", "messages", "files", "state", "details"] as const
export type CheckpointTab = (typeof checkpointTabs)[number]

export type Route =
  | { readonly page: "sessions" }
  | { readonly page: "session"; readonly sessionId: string }
  | {
      readonly page: "checkpoint"
      readonly sessionId: string
      readonly checkpointId: string
      readonly tab: CheckpointTab
      /** What it is compared with, or the file that is open. */
      readonly detail: string | null
    }
  | { readonly page: "compare"; readonly sessionId: string; readonly otherId: string | null }
  | { readonly page: "replay"; readonly sessionId: string; readonly checkpointId: string | null }
  | { readonly page: "unknown"; readonly address: string }

export function parseRoute(hash: string): Route {
  const address = hash.replace(/^#/, "")
  const parts = address.split("/").filter((part) => part !== "")
  const words = parts.map(decode)
  if (words.includes(null)) return { page: "unknown", address }
  const [first, sessionId, third, fourth, fifth, ...rest] = words as string[]
  if (first === undefined) return { page: "sessions" }
  if (first !== "sessions") return { page: "unknown", address }
  if (sessionId === undefined) return { page: "sessions" }
  if (third === undefined) return { page: "session", sessionId }
  if (third === "compare") return { page: "compare", sessionId, otherId: fourth ?? null }
  if (third === "replay") return { page: "replay", sessionId, checkpointId: fourth ?? null }
  if (third === "checkpoints" && fourth !== undefined) {
    const tab = checkpointTabs.find((one) => one === (fifth ?? "changes"))
    if (tab === undefined || rest.length > 1) return { page: "unknown", address }
    return { page: "checkpoint", sessionId, checkpointId: fourth, tab, detail: rest[0] ?? null }
  }
  return { page: "unknown", address }
}

export function formatRoute(route: Route): string {
  return `#/${wordsOf(route).map(encodeURIComponent).join("/")}`
}

function wordsOf(route: Route): string[] {
  switch (route.page) {
    case "sessions":
      return []
    case "session":
      return ["sessions", route.sessionId]
    case "checkpoint":
      return [
        "sessions",
        route.sessionId,
        "checkpoints",
        route.checkpointId,
        route.tab,
        ...(route.detail === null ? [] : [route.detail]),
      ]
    case "compare":
      return ["sessions", route.sessionId, "compare", ...(route.otherId === null ? [] : [route.otherId])]
    case "replay":
      return ["sessions", route.sessionId, "replay", ...(route.checkpointId === null ? [] : [route.checkpointId])]
    case "unknown":
      return []
  }
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null // not an address of ours; shown as unknown
  }
}
