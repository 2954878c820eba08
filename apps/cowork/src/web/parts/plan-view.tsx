/** What a restore would do: written, deleted, untouched, not captured, and what leaves the conversation. */
import type { RestoreAnswer, RestoreJson } from "../../api.js"
import { plural } from "../format.js"
import { Name } from "./basics.js"
import { Icon } from "./icon.js"
import { SkippedPaths } from "./skipped-paths.js"

interface PlanViewProps {
  readonly answer: RestoreAnswer
  readonly mode: RestoreJson["mode"]
  /** The chosen paths, if only chosen ones are restored. */
  readonly picked: readonly string[] | null
  readonly onPick: (paths: readonly string[]) => void
}

export function PlanView({ answer, mode, picked, onPick }: PlanViewProps) {
  const { plan, counts, messagesHidden = 0, changedSince = [] } = answer
  const hasFiles = mode !== "conversation"
  const pick = { picked, onPick }
  const asThen = picked?.filter((path) => !plan.write.includes(path) && !plan.delete.includes(path)) ?? []
  return (
    <div className="plan">
      <h3>The plan</h3>
      {mode === "files" ? null : (
        <p className="plan-line">
          {messagesHidden === 0
            ? "No message leaves the conversation."
            : `${plural(messagesHidden, "message")} after this point ${messagesHidden === 1 ? "leaves" : "leave"} the conversation. The log keeps ${messagesHidden === 1 ? "it" : "them"}.`}
        </p>
      )}
      {hasFiles ? (
        <>
          {picked === null ? null : (
            <p className="plan-line">Choose what to bring back; all else stays as it is now.</p>
          )}
          <Paths label="written" count={counts.write} paths={plan.write} kind="added" {...pick} />
          <Paths label="deleted" count={counts.delete} paths={plan.delete} kind="deleted" {...pick} />
          {asThen.map((path) => (
            <p key={path} className="plan-line">
              <Name isCode>{path}</Name> is as then already.
            </p>
          ))}
          <p className="plan-line">{plural(plan.untouched, "file")} untouched: already as then.</p>
          {counts.notCaptured > 0 ? (
            <details>
              <summary>{plural(counts.notCaptured, "path")} not captured: left alone</summary>
              <SkippedPaths skipped={plan.notCaptured} />
            </details>
          ) : null}
        </>
      ) : (
        <p className="plan-line">No file is touched.</p>
      )}
      {changedSince.length > 0 ? (
        <div className="notice notice-warning">
          <Icon name="warning" />
          <div>
            <p>
              Changed since the newest checkpoint, by a person or another program. They are kept before the restore:
            </p>
            <ul className="paths">
              {changedSince.slice(0, 20).map((path) => (
                <li key={path}>
                  <Name isCode>{path}</Name>
                </li>
              ))}
            </ul>
          </div>
        </div>
      ) : null}
    </div>
  )
}

interface PathsProps {
  readonly label: string
  readonly count: number
  readonly paths: readonly string[]
  readonly kind: "added" | "deleted"
  readonly picked: readonly string[] | null
  readonly onPick: (paths: readonly string[]) => void
}

function Paths({ label, count, paths, kind, picked, onPick }: PathsProps) {
  const toggle = (path: string, isOn: boolean) =>
    onPick(isOn ? [...(picked ?? []), path] : (picked ?? []).filter((one) => one !== path))
  if (count === 0) return <p className="plan-line">0 files {label}.</p>
  return (
    <details open={count <= 12 || picked !== null}>
      <summary>
        <span className={`letter letter-${kind}`} aria-hidden="true">
          {kind === "added" ? "+" : "−"}
        </span>
        {plural(count, "file")} {label}
      </summary>
      <ul className="paths">
        {paths.map((path) => (
          <li key={path}>
            {picked === null ? (
              <Name isCode>{path}</Name>
            ) : (
              <label className="pick">
                <input
                  type="checkbox"
                  checked={picked.includes(path)}
                  onChange={(event) => toggle(path, event.target.checked)}
                />
                <Name isCode>{path}</Name>
              </label>
            )}
          </li>
        ))}
      </ul>
      {count > paths.length ? <p className="muted">and {(count - paths.length).toLocaleString("en")} more</p> : null}
    </details>
  )
}
