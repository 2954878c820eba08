/** The connection over which changes arrive. Pure; the caller keeps the time. */

export type LiveState =
  | { readonly phase: "connecting"; readonly attempt: number }
  | { readonly phase: "live" }
  /** Broken; asked again in `waitMs`. */
  | { readonly phase: "lost"; readonly attempt: number; readonly waitMs: number; readonly message: string }
  /** The session was deleted. */
  | { readonly phase: "gone" }

export type LiveAction =
  | { readonly type: "opened" }
  | { readonly type: "broke"; readonly message: string }
  | { readonly type: "retried" }
  | { readonly type: "gone" }

export const firstLive: LiveState = { phase: "connecting", attempt: 0 }

const waits = [300, 600, 1_200, 2_500, 5_000]

export function reduceLive(state: LiveState, action: LiveAction): LiveState {
  if (state.phase === "gone") return state
  switch (action.type) {
    case "opened":
      return { phase: "live" }
    case "broke": {
      const attempt = state.phase === "connecting" || state.phase === "lost" ? state.attempt + 1 : 1
      return {
        phase: "lost",
        attempt,
        waitMs: waits[Math.min(attempt, waits.length) - 1] as number,
        message: action.message,
      }
    }
    case "retried":
      return state.phase === "lost" ? { phase: "connecting", attempt: state.attempt } : state
    case "gone":
      return { phase: "gone" }
  }
}

/** What the page says of it. A first connection that is on its way is not worth a word. */
export function describeLive(state: LiveState): string | null {
  if (state.phase === "gone") return "This session was deleted."
  if (state.phase === "lost") return "Connection lost, trying again."
  return state.phase === "connecting" && state.attempt > 0 ? "Connection lost, trying again." : null
}
