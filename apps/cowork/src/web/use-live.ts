/** A live connection: events in order, none missed and none twice, also over lost connections. */
import { isKeepupError, toKeepupError } from "@ku0/agent-runtime-core"
import { useEffect, useReducer, useRef } from "react"
import { ask } from "./client.js"
import { createEventStreamReader, type StreamEvent } from "./event-stream.js"
import { firstLive, type LiveState, reduceLive } from "./state/live-state.js"

/** The server sends something at least every 15 seconds; silence for longer is a dead connection. */
const longestSilence = 40_000

export interface LiveOptions {
  /** Must not throw. */
  readonly onEvent: (event: StreamEvent) => void
}

/** `path` null: not connected. */
export function useLive(path: string | null, options: LiveOptions): LiveState {
  const [state, dispatch] = useReducer(reduceLive, firstLive)
  const latest = useRef(options)
  latest.current = options

  useEffect(() => {
    if (path === null) return
    const controller = new AbortController()
    let lastId: string | undefined
    let isGone = false
    const tell = (event: StreamEvent) => {
      if (event.id !== null) lastId = event.id
      if (event.type === "gone") isGone = true
      latest.current.onEvent(event)
    }
    const run = async () => {
      let current: LiveState = firstLive
      const move = (action: Parameters<typeof reduceLive>[1]) => {
        current = reduceLive(current, action)
        if (!controller.signal.aborted) dispatch(action)
      }
      while (!controller.signal.aborted && !isGone) {
        const message = await readOnce(path, lastId, controller.signal, tell, () => move({ type: "opened" }))
        if (controller.signal.aborted) return
        if (isGone) return move({ type: "gone" })
        move({ type: "broke", message })
        await wait(current.phase === "lost" ? current.waitMs : 0, controller.signal)
        move({ type: "retried" })
      }
    }
    void run()
    return () => controller.abort()
  }, [path])
  return state
}

/** Reads until the connection ends; returns why it did. */
async function readOnce(
  path: string,
  lastId: string | undefined,
  signal: AbortSignal,
  tell: (event: StreamEvent) => void,
  onOpen: () => void,
): Promise<string> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), longestSilence)
  try {
    const response = await ask("GET", path, undefined, AbortSignal.any([signal, silence.signal]), lastId)
    onOpen()
    const reader = (response.body as ReadableStream<BufferSource>).pipeThrough(new TextDecoderStream()).getReader()
    const read = createEventStreamReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return "The server ended the connection."
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), longestSilence)
      for (const event of read(value)) tell(event)
    }
  } catch (error) {
    return isKeepupError(error) ? error.message : toKeepupError(error).message
  } finally {
    clearTimeout(timer)
  }
}

/** Waits, but not past the end of the page's interest, and not at all once the browser says the network is back. */
function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      removeEventListener("online", done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    addEventListener("online", done, { once: true })
    signal.addEventListener("abort", done, { once: true })
  })
}
