/** The files as of then: folder by folder, and one of them open. */
import { type KeepupError, toKeepupError } from "@ku0/agent-runtime-core"
import { useState } from "react"
import type { CheckpointDetail, FileList, ListedFile } from "../../api.js"
import { api } from "../client.js"
import { plural } from "../format.js"
import { Button, Empty, Loading, Name, Problem } from "../parts/basics.js"
import { BytesView } from "../parts/bytes-view.js"
import { Icon } from "../parts/icon.js"
import { VirtualList } from "../parts/virtual-list.js"
import { formatRoute } from "../state/route.js"
import { useLoad } from "../use-load.js"
import type { CheckpointRoute } from "./checkpoint-pane.js"

const icons = { file: "file", program: "file", link: "link", folder: "folder" } as const

interface FilesTabProps {
  readonly route: CheckpointRoute
  readonly data: CheckpointDetail
  /** Must not throw. Asks whether to restore one file. */
  readonly onRestore: (path: string) => void
}

export function FilesTab({ route, data, onRestore }: FilesTabProps) {
  const { checkpoint } = data
  const [folder, setFolder] = useState(() => parentOf(route.detail ?? ""))
  const [text, setText] = useState("")
  const query = text.trim() === "" ? { folder } : { q: text.trim() }
  if (!data.hasFiles) return <Empty title="This checkpoint holds no files on this machine." />
  return (
    <div className="pane-body diff">
      <div className="diff-files">
        <div className="toolbar">
          <label className="search">
            <Icon name="search" />
            <span className="hidden">Search the files of this checkpoint</span>
            <input
              type="search"
              placeholder="Search all files"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </label>
        </div>
        <Listing
          key={JSON.stringify(query)}
          route={route}
          query={query}
          folder={text.trim() === "" ? folder : null}
          sessionId={checkpoint.sessionId}
          checkpointId={checkpoint.id}
          onFolder={setFolder}
        />
      </div>
      <div className="diff-main">
        {route.detail === null ? (
          <Empty title="Choose a file to read it as it was then." />
        ) : (
          <>
            <div className="diff-head">
              <span className="diff-title">
                <Name isCode>{route.detail}</Name>
              </span>
              <Button icon="restore" onClick={() => onRestore(route.detail as string)}>
                Restore this file…
              </Button>
            </div>
            <BytesView
              key={route.detail}
              id={`file ${checkpoint.id} ${route.detail}`}
              name={route.detail}
              load={(signal) => api.file(checkpoint.sessionId, checkpoint.id, route.detail as string, signal)}
            />
          </>
        )}
      </div>
    </div>
  )
}

interface ListingProps {
  readonly route: CheckpointRoute
  readonly query: Readonly<Record<string, string>>
  /** Null while one searches. */
  readonly folder: string | null
  readonly sessionId: string
  readonly checkpointId: string
  readonly onFolder: (folder: string) => void
}

function Listing({ route, query, folder, sessionId, checkpointId, onFolder }: ListingProps) {
  const [problem, setProblem] = useState<KeepupError | null>(null)
  const { data, error, change } = useLoad(`files ${checkpointId} ${JSON.stringify(query)}`, (signal) =>
    api.files(sessionId, checkpointId, { ...query, limit: 1_000 }, signal),
  )
  const loadMore = () => {
    if (!data?.next) return
    api.files(sessionId, checkpointId, { ...query, limit: 1_000, after: data.next }).then(
      (page) => {
        setProblem(null)
        change((before): FileList => ({ ...page, files: [...before.files, ...page.files] }))
      },
      (cause: unknown) => setProblem(toKeepupError(cause)),
    )
  }
  if (error) return <Problem error={error} />
  if (data === undefined) return <Loading what="the files" />
  const up: ListedFile[] = folder === null || folder === "" ? [] : [{ path: "..", kind: "folder" }]
  const rows = [...up, ...data.files]
  return (
    <>
      <p className="diff-sum">
        {folder === null || folder === "" ? plural(data.total, "item") : <Name isCode>{`${folder}/`}</Name>}
      </p>
      {rows.length === 0 ? <Empty title="Nothing is here." /> : null}
      <VirtualList
        label="Files as of then"
        items={rows}
        keyOf={({ path }) => path}
        estimate={() => 32}
        render={(file, _, focus) =>
          file.kind === "folder" ? (
            <button
              type="button"
              className="diff-name"
              onClick={() => onFolder(file.path === ".." ? parentOf(folder ?? "") : file.path)}
              {...focus}
            >
              <Icon name="folder" />
              <Name isCode>{file.path === ".." ? ".." : `${lastOf(file.path)}/`}</Name>
            </button>
          ) : (
            <a
              className="diff-name"
              href={formatRoute({ ...route, detail: file.path })}
              aria-current={route.detail === file.path ? "true" : undefined}
              {...focus}
            >
              <Icon name={icons[file.kind]} />
              <Name isCode>{folder === null ? file.path : lastOf(file.path)}</Name>
              {file.kind === "program" ? <span className="tag">program</span> : null}
            </a>
          )
        }
      />
      {problem ? <Problem error={problem} /> : null}
      {data.next === null ? null : <Button onClick={loadMore}>Show more</Button>}
    </>
  )
}

function parentOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ""
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1)
}
