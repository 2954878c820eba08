/** The messages of a history as far as they are loaded, by index, 1 the first. Pure. */
import type { EntryJson, ListedMessage, MessageList } from "../../api.js"

export interface MessageState {
  readonly total: number
  readonly byIndex: ReadonlyMap<number, ListedMessage>
  /** Grows when the history went on from elsewhere, and what is loaded must be asked for again. */
  readonly version: number
  readonly isLoaded: boolean
}

export type MessageAction =
  | { readonly type: "loaded"; readonly answer: MessageList; readonly version: number }
  | { readonly type: "arrived"; readonly entry: EntryJson }
  | { readonly type: "reset" }

export const noMessages: MessageState = { total: 0, byIndex: new Map(), version: 0, isLoaded: false }
export const pageSize = 50

export function reduceMessages(state: MessageState, action: MessageAction): MessageState {
  switch (action.type) {
    case "loaded": {
      if (action.version !== state.version) return state
      const byIndex = new Map(state.byIndex)
      for (const message of action.answer.messages) byIndex.set(message.index, message)
      return { ...state, total: Math.max(action.answer.total, state.total), byIndex, isLoaded: true }
    }
    case "arrived": {
      const { entry } = action
      if (!state.isLoaded) return state
      if (entry.parent !== null) return reset(state)
      if (entry.type !== "message:added" || entry.messageIndex <= state.total) return state
      if (entry.messageIndex > state.total + 1) return reset(state)
      const message = readMessage(entry)
      if (message === null) return reset(state)
      const byIndex = new Map(state.byIndex).set(entry.messageIndex, message)
      return { ...state, total: entry.messageIndex, byIndex }
    }
    case "reset":
      return reset(state)
  }
}

/** The first index of the page that must be asked for so that `index` can be shown, if it is not there. */
export function missingPage(state: MessageState, first: number, last: number): number | null {
  for (let index = Math.max(1, first); index <= Math.min(last, state.total); index++) {
    if (!state.byIndex.has(index)) return Math.floor((index - 1) / pageSize) * pageSize + 1
  }
  return null
}

function reset(state: MessageState): MessageState {
  return { total: 0, byIndex: new Map(), version: state.version + 1, isLoaded: false }
}

function readMessage(entry: EntryJson): ListedMessage | null {
  const { message } = (entry.data ?? {}) as { message?: ListedMessage["message"] }
  if (message === undefined) return null
  return {
    index: entry.messageIndex,
    entry: { sessionId: entry.sessionId, seq: entry.seq },
    createdAt: entry.createdAt,
    message,
  }
}
