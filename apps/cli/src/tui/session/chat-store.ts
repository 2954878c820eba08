/**
 * Holds the state of the chat and tells whoever draws it. Text that streams in is gathered and shown a frame at a time,
 * so that a key press never waits behind a thousand small pieces of an answer.
 */
import type { ChatAction } from "../state/chat-action.js"
import type { ChatState } from "../state/chat-state.js"
import { reduceChat } from "../state/reduce-chat.js"

/** About thirty frames a second. */
const frameMs = 33

export interface ChatStore {
  get(): ChatState
  dispatch(action: ChatAction): void
  /** A piece of the answer that streams in; on the screen within a frame. */
  stream(text: string): void
  subscribe(listener: () => void): () => void
  /** No timer is left behind. */
  close(): void
}

export interface ChatStoreOptions {
  /** Hears what is about to be shown of an answer, before it is shown. Must not throw. */
  readonly onStreamed?: (text: string) => void
}

export function createChatStore(start: ChatState, options: ChatStoreOptions = {}): ChatStore {
  const listeners = new Set<() => void>()
  let state = start
  let gathered = ""
  let timer: NodeJS.Timeout | undefined
  let isTelling = false

  function reduce(action: ChatAction): void {
    const next = reduceChat(state, action)
    if (next === state) return
    state = next
    if (isTelling) return
    isTelling = true
    queueMicrotask(() => {
      isTelling = false
      for (const listener of listeners) listener()
    })
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (gathered === "") return
    const text = gathered
    gathered = ""
    options.onStreamed?.(text)
    reduce({ type: "text-streamed", text })
  }

  return {
    get: () => state,
    dispatch(action) {
      if (action.type === "stream-restarted") gathered = ""
      // the order of what is shown is the order of what happened
      flush()
      reduce(action)
    },
    stream(text) {
      gathered += text
      timer ??= setTimeout(flush, frameMs)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: flush,
  }
}
