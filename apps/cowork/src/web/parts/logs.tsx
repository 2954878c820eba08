/** What keepup has to say about a session, newest first. */
import { api } from "../client.js"
import { dateTime } from "../format.js"
import { useLoad } from "../use-load.js"
import { visibleText } from "../visible-text.js"
import { Loading, Problem } from "./basics.js"

export function Logs({ sessionId, until }: { readonly sessionId: string; readonly until: number | null }) {
  const { data, error } = useLoad(`logs ${sessionId}`, (signal) => api.logs(sessionId, { limit: 200 }, signal))
  if (error) return <Problem error={error} />
  if (data === undefined) return <Loading what="the log" />
  const lines = data.logs.filter(({ createdAt }) => until === null || createdAt <= until)
  if (lines.length === 0) return <p className="muted">Nothing was logged.</p>
  return (
    <ul className="logs">
      {lines.map((line) => (
        <li key={line.id}>
          <time>{dateTime(line.createdAt)}</time>
          <span className={`level level-${line.level}`}>{line.level}</span>
          <span dir="auto">{visibleText(line.message)}</span>
        </li>
      ))}
    </ul>
  )
}
