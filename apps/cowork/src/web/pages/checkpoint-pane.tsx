/** One checkpoint: what changed, what was said, its files, its state, and the way back to it. */
import { toKeepupError } from "@ku0/agent-runtime-core"
import { useState } from "react"
import type { CheckpointDetail, Graph } from "../../api.js"
import { api } from "../client.js"
import { plural } from "../format.js"
import { Button, Go, IconButton, Loading, Name, Problem, Time } from "../parts/basics.js"
import { Icon } from "../parts/icon.js"
import { Messages } from "../parts/messages.js"
import { RestoreDialog } from "../parts/restore-dialog.js"
import { DeleteCheckpoint } from "../parts/session-dialogs.js"
import { Tabs } from "../parts/tabs.js"
import { triggerLabels } from "../state/labels.js"
import { type CheckpointTab, checkpointTabs, formatRoute, type Route } from "../state/route.js"
import { useLoad } from "../use-load.js"
import { goTo } from "../use-route.js"
import { useShortcuts } from "../use-shortcuts.js"
import { ChangesTab } from "./changes-tab.js"
import { DetailsTab } from "./details-tab.js"
import { FilesTab } from "./files-tab.js"
import { StateTab } from "./state-tab.js"

export type CheckpointRoute = Extract<Route, { readonly page: "checkpoint" }>

interface CheckpointPaneProps {
  readonly route: CheckpointRoute
  readonly names: ReadonlyMap<string, string>
  readonly graph: Graph | undefined
  readonly onChanged: () => void
  readonly onSay: (words: string) => void
}

interface Asked {
  readonly for: "restore" | "branch" | "delete"
  /** Restore only this file. */
  readonly path?: string
}

const labels: Readonly<Record<CheckpointTab, string>> = {
  changes: "Changes",
  messages: "Messages",
  files: "Files",
  state: "State",
  details: "Details",
}

export function CheckpointPane({ route, names, graph, onChanged, onSay }: CheckpointPaneProps) {
  const { sessionId, checkpointId } = route
  const loaded = useLoad(`checkpoint ${sessionId} ${checkpointId}`, (signal) =>
    api.checkpoint(sessionId, checkpointId, signal),
  )
  const [asked, setAsked] = useState<Asked | null>(null)
  useShortcuts({ r: () => setAsked({ for: "restore" }), b: () => setAsked({ for: "branch" }) })
  const { data, error } = loaded
  if (error && data === undefined) return <Problem error={error} />
  if (data === undefined) return <Loading what="the checkpoint" />
  const { checkpoint } = data
  return (
    <div className="pane">
      <CheckpointHead
        data={data}
        branchName={checkpoint.sessionId === sessionId ? null : (names.get(checkpoint.sessionId) ?? null)}
        onAsk={setAsked}
        onPinned={loaded.reload}
      />
      <Tabs
        label="Parts of the checkpoint"
        current={route.tab}
        tabs={checkpointTabs.map((tab) => ({
          id: tab,
          label: labels[tab],
          href: formatRoute({ ...route, tab, detail: null }),
          count: tab === "messages" ? checkpoint.messageIndex : undefined,
        }))}
      />
      <Part route={route} data={data} graph={graph} onAsk={setAsked} />
      {asked?.for === "delete" ? (
        <DeleteCheckpoint
          checkpoint={checkpoint}
          onClose={() => setAsked(null)}
          onDone={(words) => {
            onSay(words)
            onChanged()
            goTo({ page: "session", sessionId })
          }}
        />
      ) : null}
      {asked?.for === "restore" || asked?.for === "branch" ? (
        <RestoreDialog
          checkpoint={checkpoint}
          sessionName={data.session.name}
          isBranch={asked.for === "branch"}
          path={asked.path}
          onClose={() => setAsked(null)}
          onDone={(words) => {
            onSay(words)
            onChanged()
          }}
        />
      ) : null}
    </div>
  )
}

interface PartProps {
  readonly route: CheckpointRoute
  readonly data: CheckpointDetail
  readonly graph: Graph | undefined
  readonly onAsk: (asked: Asked) => void
}

function Part({ route, data, graph, onAsk }: PartProps) {
  const { id, sessionId } = data.checkpoint
  if (route.tab === "changes") return <ChangesTab route={route} data={data} graph={graph} />
  if (route.tab === "messages") return <Messages key={id} sessionId={sessionId} checkpointId={id} />
  if (route.tab === "files")
    return <FilesTab route={route} data={data} onRestore={(path) => onAsk({ for: "restore", path })} />
  return route.tab === "state" ? <StateTab data={data} /> : <DetailsTab data={data} />
}

interface CheckpointHeadProps {
  readonly data: CheckpointDetail
  readonly branchName: string | null
  readonly onAsk: (asked: Asked) => void
  readonly onPinned: () => void
}

function CheckpointHead({ data, branchName, onAsk, onPinned }: CheckpointHeadProps) {
  const { checkpoint } = data
  const [error, setError] = useState<ReturnType<typeof toKeepupError> | null>(null)
  const pin = () =>
    api.pin(checkpoint.sessionId, checkpoint.id, !checkpoint.pinned).then(onPinned, (cause: unknown) => {
      setError(toKeepupError(cause))
    })
  const { snapshot } = checkpoint
  return (
    <header className="checkpoint-head">
      <div>
        <h2>
          #{checkpoint.number} {checkpoint.name === null ? null : <Name>{checkpoint.name}</Name>}
          <span className="tag">{triggerLabels[checkpoint.trigger]}</span>
        </h2>
        <p className="muted">
          <Time at={checkpoint.createdAt} /> · message {checkpoint.messageIndex}
          {snapshot ? ` · ${plural(snapshot.filesChanged, "file")} changed` : " · no files"}
          {branchName === null ? null : (
            <>
              {" "}
              · in <Name>{branchName}</Name>
            </>
          )}
        </p>
        {checkpoint.note ? (
          <p className="note">
            <Name>{checkpoint.note}</Name>
          </p>
        ) : null}
      </div>
      <div className="actions">
        <Button
          kind="primary"
          icon="restore"
          onClick={() => onAsk({ for: "restore" })}
          title="Shows the plan first (r)"
        >
          Restore…
        </Button>
        <Button
          icon="branch"
          onClick={() => onAsk({ for: "branch" })}
          title="A new session from here; the original stays (b)"
        >
          Branch…
        </Button>
        <Go
          className="button button-plain"
          to={{ page: "replay", sessionId: checkpoint.sessionId, checkpointId: checkpoint.id }}
        >
          <Icon name="play" />
          <span>Replay from here</span>
        </Go>
        <Button
          icon="pin"
          onClick={pin}
          isPressed={checkpoint.pinned}
          title="A pinned checkpoint is never removed by itself"
        >
          {checkpoint.pinned ? "Pinned" : "Pin"}
        </Button>
        <IconButton icon="delete" name="Delete the checkpoint…" onClick={() => onAsk({ for: "delete" })} />
      </div>
      {error ? <Problem error={error} /> : null}
      {data.filesProblem ? (
        <p className="notice notice-warning">
          <Icon name="warning" />
          <span>{data.filesProblem}</span>
        </p>
      ) : null}
    </header>
  )
}
