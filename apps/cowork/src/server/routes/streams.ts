/** Live events: one session's entries as they are appended, and changes over all sessions. */
import { KeepupError, type Runtime } from "@ku0/agent-runtime"
import * as api from "../../api.js"
import { answerStream } from "../event-frames.js"
import { getSession } from "../references.js"
import { type AnyRoute, route } from "../route.js"
import type { SessionWatcher } from "../watch-session.js"
import type { SessionsWatcher } from "../watch-sessions.js"

const media = "text/event-stream"
const mostStreams = 1_000

export function streamRoutes(runtime: Runtime, one: SessionWatcher, all: SessionsWatcher): AnyRoute[] {
  let open = 0

  /** Counts the streams, so that a page gone wild can't take all there is. */
  function start(signal: AbortSignal, follow: (signal: AbortSignal) => AsyncGenerator<string>): Response {
    if (open >= mostStreams) throw new KeepupError("UNAVAILABLE", `There are ${open} streams open already.`)
    const gone = new AbortController()
    const frames = follow(AbortSignal.any([signal, gone.signal]))
    let isCounted = true
    open++
    const end = () => {
      if (isCounted) open--
      isCounted = false
    }
    async function* counted(): AsyncGenerator<string> {
      try {
        yield* frames
      } finally {
        end()
      }
    }
    return answerStream(counted(), () => {
      gone.abort()
      end()
    })
  }

  const session = route({
    method: "get",
    path: "/api/sessions/{sid}/events",
    summary: "the session's entries as they are appended; id = seq",
    params: api.sessionParamsSchema,
    query: api.eventsQuerySchema,
    media,
    async handle({ params, query, header, signal }) {
      const { id } = await getSession(runtime, params.sid)
      const after = parseLastId(header("last-event-id")) ?? query.after
      return start(signal(), (stop) => one.follow(id, after, stop))
    },
  })

  const sessions = route({
    method: "get",
    path: "/api/events",
    summary: "sessions that were made, changed or deleted",
    media,
    handle: async ({ signal }) => start(signal(), (stop) => all.follow(stop)),
  })

  return [session, sessions]
}

function parseLastId(header: string | undefined): number | undefined {
  if (header === undefined || header === "") return undefined
  if (/^\d{1,15}$/.test(header)) return Number(header)
  throw new KeepupError("INVALID_INPUT", "Last-Event-ID must be the seq of an entry.")
}
