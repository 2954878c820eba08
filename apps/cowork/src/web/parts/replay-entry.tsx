/** One entry of a replay: a message as a message, everything else as a line. */
import type { EntryJson, ListedMessage } from "../../api.js"
import { clockTime } from "../format.js"
import { describeEntry } from "../state/labels.js"
import { visibleName } from "../visible-text.js"
import { MessageCard } from "./message-card.js"
import type { RowFocus } from "./virtual-list.js"

interface ReplayEntryProps {
  readonly entry: EntryJson | undefined
  readonly isLast: boolean
  readonly focus: RowFocus
}

export function ReplayEntry({ entry, isLast, focus }: ReplayEntryProps) {
  if (entry === undefined) return <div className="event" aria-hidden="true" />
  const message = (entry.data as { message?: ListedMessage["message"] } | null)?.message
  if (entry.type === "message:added" && message !== undefined) {
    const { sessionId, seq, createdAt, messageIndex: index } = entry
    return <MessageCard index={index} listed={{ index, entry: { sessionId, seq }, createdAt, message }} focus={focus} />
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a line of a list, focused by its keys
    <div className={`event ${isLast ? "event-last" : ""}`} role="group" aria-label={visibleName(entry.type)} {...focus}>
      <time>{clockTime(entry.createdAt)}</time>
      <b>{visibleName(entry.type)}</b>
      <span className="muted">{describeEntry(entry)}</span>
    </div>
  )
}
