/** The facts of a checkpoint: git, what it does not hold, what was kept and logged up to then, and its ids. */
import type { ReactNode } from "react"
import type { CheckpointDetail } from "../../api.js"
import { dateTime, formatBytes, plural } from "../format.js"
import { Artifacts } from "../parts/artifacts.js"
import { Counts, Name } from "../parts/basics.js"
import { Logs } from "../parts/logs.js"
import { SkippedPaths } from "../parts/skipped-paths.js"
import { triggerLabels } from "../state/labels.js"

export function DetailsTab({ data }: { readonly data: CheckpointDetail }) {
  const { checkpoint } = data
  const { snapshot, git } = checkpoint
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
    <section className="scroller pane-body details" tabIndex={0} aria-label="Details">
      <h3>Checkpoint</h3>
      <Facts
        facts={[
          ["Taken", dateTime(checkpoint.createdAt)],
          ["Trigger", triggerLabels[checkpoint.trigger]],
          ["Place", `entry ${data.entrySeq}, message ${checkpoint.messageIndex}`],
          ["Size", formatBytes(checkpoint.sizeBytes)],
          ["Id", <code key="id">{checkpoint.id}</code>],
        ]}
      />
      <h3>Files</h3>
      {snapshot ? (
        <Facts
          facts={[
            [
              "Changed",
              <span key="changed">
                {plural(snapshot.filesChanged, "file")} <Counts {...snapshot} />
              </span>,
            ],
            ["Snapshot", <code key="commit">{snapshot.commit}</code>],
          ]}
        />
      ) : (
        <p className="muted">It holds no files.</p>
      )}
      <h3>Not captured</h3>
      <SkippedPaths skipped={snapshot?.skipped ?? []} />
      <h3>Git</h3>
      {git ? (
        <Facts
          facts={[
            [
              "Branch",
              git.branch === null ? (
                "none"
              ) : (
                <Name key="branch" isCode>
                  {git.branch}
                </Name>
              ),
            ],
            ["HEAD", git.head === null ? "no commit yet" : <code key="head">{git.head.slice(0, 12)}</code>],
            ["Uncommitted", plural(git.uncommitted, "file")],
            ["Untracked", plural(git.untracked, "file")],
            ...(git.operation === null ? [] : [["In progress", git.operation] as const]),
          ]}
        />
      ) : (
        <p className="muted">The workspace is not a git repository. keepup does not need one.</p>
      )}
      <h3>Artifacts up to then</h3>
      <Artifacts sessionId={checkpoint.sessionId} until={checkpoint.createdAt} />
      <h3>Log up to then</h3>
      <Logs sessionId={checkpoint.sessionId} until={checkpoint.createdAt} />
    </section>
  )
}

function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
