/** What a checkpoint or a restore does not hold, and why. */
import type { SkippedJson } from "../../api.js"
import { skipReasons } from "../state/labels.js"
import { Name } from "./basics.js"

const mostShown = 100

export function SkippedPaths({ skipped }: { readonly skipped: readonly SkippedJson[] }) {
  if (skipped.length === 0) return <p className="muted">Nothing beyond what ignore rules leave out.</p>
  return (
    <>
      <ul className="paths">
        {skipped.slice(0, mostShown).map(({ path, reason }) => (
          <li key={path}>
            <Name isCode>{path}</Name> <span className="muted">{skipReasons[reason]}</span>
          </li>
        ))}
      </ul>
      {skipped.length > mostShown ? <p className="muted">and {skipped.length - mostShown} more</p> : null}
    </>
  )
}
