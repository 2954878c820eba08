/** A replay: a place in a list of recorded entries that moves by hand or by itself. Pure; the caller keeps the time. */

export const speeds = [1, 4, 16, 64] as const
export type Speed = (typeof speeds)[number]

export interface ReplayState {
  /** How many entries were shown: 0 is before the first. */
  readonly position: number
  readonly total: number
  readonly isPlaying: boolean
  readonly speed: Speed
}

export type ReplayAction =
  | { readonly type: "loaded"; readonly total: number }
  | { readonly type: "played" }
  | { readonly type: "paused" }
  | { readonly type: "stepped"; readonly by: number }
  | { readonly type: "moved"; readonly to: number }
  | { readonly type: "speeded"; readonly speed: Speed }
  | { readonly type: "ticked" }

export const firstReplay: ReplayState = { position: 0, total: 0, isPlaying: false, speed: 4 }

export function reduceReplay(state: ReplayState, action: ReplayAction): ReplayState {
  switch (action.type) {
    case "loaded":
      return settle({ ...state, total: action.total })
    case "played":
      return settle({ ...state, position: state.position >= state.total ? 0 : state.position, isPlaying: true })
    case "paused":
      return { ...state, isPlaying: false }
    case "stepped":
      return settle({ ...state, position: state.position + action.by, isPlaying: false })
    case "moved":
      return settle({ ...state, position: action.to })
    case "speeded":
      return { ...state, speed: action.speed }
    case "ticked":
      return state.isPlaying ? settle({ ...state, position: state.position + 1 }) : state
  }
}

const longestWait = 1_500
const shortestWait = 30

/** How long to wait before the next entry: as it was recorded, divided by the speed, but never so long that one wonders. */
export function waitBefore(previousAt: number | undefined, nextAt: number | undefined, speed: Speed): number {
  const recorded = previousAt === undefined || nextAt === undefined ? 0 : nextAt - previousAt
  return Math.min(longestWait, Math.max(shortestWait, recorded / speed))
}

function settle(state: ReplayState): ReplayState {
  const position = Math.min(state.total, Math.max(0, Math.round(state.position)))
  return { ...state, position, isPlaying: state.isPlaying && position < state.total }
}
