/** One message: who, when, what, and the tools it called. Long ones are folded until one asks for more. */
import { useState } from "react"
import type { ListedMessage } from "../../api.js"
import { clockTime, dateTime, formatBytes } from "../format.js"
import { firstLine, visibleName, visibleText } from "../visible-text.js"
import { Icon } from "./icon.js"
import type { RowFocus } from "./virtual-list.js"

interface ToolCallJson {
  readonly id: string
  readonly name: string
  readonly arguments?: unknown
}

interface MessageCardProps {
  readonly index: number
  readonly listed: ListedMessage | undefined
  readonly focus?: RowFocus
}

const longLines = 14
const longText = 1_600

export function MessageCard({ index, listed, focus }: MessageCardProps) {
  if (listed === undefined) return <div className="message message-waiting" aria-hidden="true" />
  const { message, createdAt, cutBytes } = listed
  const role = visibleName(message.role)
  const calls = (message["toolCalls"] ?? []) as readonly ToolCallJson[]
  const isError = message["isError"] === true
  const label = message.role === "tool" ? visibleName(String(message["name"] ?? "tool")) : role
  const isHidden = "summaryParent" in message || "truncationParent" in message
  return (
    <article
      className={`message message-${message.role} ${isError ? "message-error" : ""}`}
      aria-label={`Message ${index}, ${label}`}
      {...focus}
    >
      <header>
        <span className="message-role">
          {message.role === "tool" ? <Icon name="tool" size={14} /> : null}
          {label}
        </span>
        {isError ? <span className="tag tag-bad">error</span> : null}
        {isHidden ? <span className="tag">summed up later</span> : null}
        <span className="message-index">
          {index} · <time title={dateTime(createdAt)}>{clockTime(createdAt)}</time>
        </span>
      </header>
      {message.content === "" ? null : <Folded text={message.content} isCode={message.role === "tool"} />}
      {cutBytes ? <p className="muted">{formatBytes(cutBytes)} more are in the log.</p> : null}
      {calls.map((call) => (
        <ToolCall key={call.id} call={call} />
      ))}
    </article>
  )
}

function Folded({ text, isCode }: { readonly text: string; readonly isCode: boolean }) {
  const [isOpen, setOpen] = useState(false)
  const lines = text.split("\n", longLines + 1)
  const isLong = lines.length > longLines || text.length > longText
  const shown = isLong && !isOpen ? lines.slice(0, longLines).join("\n").slice(0, longText) : text
  return (
    <>
      <div className={isCode ? "message-text message-code" : "message-text"} dir="auto">
        {visibleText(shown)}
      </div>
      {isLong ? (
        <button type="button" className="more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show less" : "Show all"}
        </button>
      ) : null}
    </>
  )
}

function ToolCall({ call }: { readonly call: ToolCallJson }) {
  const text = JSON.stringify(call.arguments ?? {}, null, 2)
  return (
    <details className="call">
      <summary>
        <Icon name="tool" size={14} />
        <b>{visibleName(call.name)}</b>
        <code>{firstLine(JSON.stringify(call.arguments ?? {}), 120)}</code>
      </summary>
      <pre>{visibleText(text)}</pre>
    </details>
  )
}
