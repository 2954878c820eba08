/** The messages of a history, to the head or to a checkpoint. Only what is seen is loaded and in the page. */
import { type KeepupError, toKeepupError } from "@ku0/agent-runtime-core"
import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from "react"
import type { EntryJson } from "../../api.js"
import { api } from "../client.js"
import { missingPage, noMessages, pageSize, reduceMessages } from "../state/message-state.js"
import { Empty, Loading, Problem } from "./basics.js"
import { MessageCard } from "./message-card.js"
import { VirtualList } from "./virtual-list.js"

interface MessagesProps {
  readonly sessionId: string
  readonly checkpointId: string | null
  readonly onEntry?: (listener: (entry: EntryJson) => void) => () => void
}

export function Messages({ sessionId, checkpointId, onEntry }: MessagesProps) {
  const [state, dispatch] = useReducer(reduceMessages, noMessages)
  const [error, setError] = useState<KeepupError | null>(null)
  const asked = useRef(new Set<string>())
  const { version } = state
  const load = useCallback(
    (from: number | null) => {
      const key = `${version} ${from}`
      if (asked.current.has(key)) return
      asked.current.add(key)
      const query = {
        limit: pageSize,
        ...(checkpointId === null ? {} : { checkpoint: checkpointId }),
        ...(from === null ? {} : { from }),
      }
      api.messages(sessionId, query).then(
        (answer) => {
          setError(null)
          dispatch({ type: "loaded", answer, version })
        },
        (cause: unknown) => {
          asked.current.delete(key)
          setError(toKeepupError(cause))
        },
      )
    },
    [sessionId, checkpointId, version],
  )
  useEffect(() => load(null), [load])
  useEffect(() => onEntry?.((entry) => dispatch({ type: "arrived", entry })), [onEntry])
  const indexes = useMemo(() => Array.from({ length: state.total }, (_, at) => at + 1), [state.total])
  const onRange = useCallback(
    (first: number, last: number) => {
      const page = missingPage(state, first + 1, last + 1)
      if (page !== null) load(page)
    },
    [state, load],
  )
  if (error && !state.isLoaded) return <Problem error={error} />
  if (!state.isLoaded) return <Loading what="messages" />
  if (state.total === 0) return <Empty title="Nothing was said yet." />
  return (
    <>
      {error ? <Problem error={error} /> : null}
      <VirtualList
        label="Messages, oldest first"
        className="messages"
        items={indexes}
        keyOf={(index) => String(index)}
        estimate={() => 90}
        isMeasured
        followsEnd
        onRange={onRange}
        render={(index, _, focus) => <MessageCard index={index} listed={state.byIndex.get(index)} focus={focus} />}
      />
    </>
  )
}
