/** The list of sessions: what is loaded, what live changes do to it, and the rows it is shown as. Pure. */
import type { ListedSession } from "../../api.js"

export interface ListState {
  readonly sessions: readonly ListedSession[]
  /** For the next page; null when all are here. */
  readonly next: string | null
  readonly isLoaded: boolean
}

export type ListAction =
  | { readonly type: "loaded"; readonly sessions: readonly ListedSession[]; readonly next: string | null }
  | { readonly type: "more"; readonly sessions: readonly ListedSession[]; readonly next: string | null }
  | { readonly type: "changed"; readonly session: ListedSession }
  | { readonly type: "deleted"; readonly id: string }

export type ListRow =
  | { readonly type: "workspace"; readonly key: string; readonly path: string; readonly count: number }
  | { readonly type: "session"; readonly key: string; readonly session: ListedSession }

export const emptyList: ListState = { sessions: [], next: null, isLoaded: false }

export function reduceList(state: ListState, action: ListAction): ListState {
  switch (action.type) {
    case "loaded":
      return { sessions: action.sessions, next: action.next, isLoaded: true }
    case "more": {
      const known = new Set(state.sessions.map(({ id }) => id))
      const fresh = action.sessions.filter(({ id }) => !known.has(id))
      return { ...state, sessions: [...state.sessions, ...fresh], next: action.next }
    }
    case "changed": {
      const others = state.sessions.filter(({ id }) => id !== action.session.id)
      return { ...state, sessions: [action.session, ...others] }
    }
    case "deleted":
      return { ...state, sessions: state.sessions.filter(({ id }) => id !== action.id) }
  }
}

export interface ListFilter {
  readonly text: string
  readonly status: string
}

/** Live changes arrive for all sessions; only those that fit the filter may be shown. */
export function fitsFilter(session: ListedSession, { text, status }: ListFilter): boolean {
  if (status !== "" && session.status !== status) return false
  const wanted = text.trim().toLowerCase()
  if (wanted === "") return true
  const { name, taskDescription, workspacePath, id } = session
  return [name, taskDescription, workspacePath, id].some((one) => one.toLowerCase().includes(wanted))
}

/** Grouped by workspace: the one with the newest change first, and within it the newest session first. */
export function toListRows(sessions: readonly ListedSession[]): ListRow[] {
  const newestFirst = [...sessions].sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
  return [...groupByWorkspace(newestFirst)].flatMap(([path, list]): ListRow[] => [
    { type: "workspace", key: `w:${path}`, path, count: list.length },
    ...list.map((session): ListRow => ({ type: "session", key: session.id, session })),
  ])
}

function groupByWorkspace(sessions: readonly ListedSession[]): Map<string, ListedSession[]> {
  const groups = new Map<string, ListedSession[]>()
  for (const session of sessions) {
    const list = groups.get(session.workspacePath)
    if (list) list.push(session)
    else groups.set(session.workspacePath, [session])
  }
  return groups
}
