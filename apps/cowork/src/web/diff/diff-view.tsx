/** The differences between two moments: the list of files, and one file's lines, loaded when it is opened. */
import { type CSSProperties, useCallback, useEffect, useMemo, useState } from "react"
import type { DiffList, FileChangeJson } from "../../api.js"
import { api } from "../client.js"
import { plural } from "../format.js"
import { Button, Counts, Empty, Loading, Name, Problem } from "../parts/basics.js"
import { VirtualList } from "../parts/virtual-list.js"
import { useLoad } from "../use-load.js"
import { useShortcuts } from "../use-shortcuts.js"
import { DiffFileView } from "./diff-file-view.js"

interface DiffViewProps {
  readonly sessionId: string
  readonly fromId: string
  /** Null: the workspace as it is now. */
  readonly toId: string | null
}

const letters: Readonly<Record<FileChangeJson["status"], string>> = {
  added: "A",
  modified: "M",
  deleted: "D",
  renamed: "R",
  mode: "m",
  type: "T",
}
const splitKey = "keepup.split"
const pageLimit = 500

export function DiffView({ sessionId, fromId, toId }: DiffViewProps) {
  const query = toId === null ? {} : { to: toId }
  const { data, error, reload, change } = useLoad(`diff ${sessionId} ${fromId} ${toId}`, (signal) =>
    api.diff(sessionId, fromId, { ...query, limit: pageLimit }, signal),
  )
  const [chosen, setChosen] = useState<string | null>(null)
  const [isSplit, setSplit] = useState(() => localStorage.getItem(splitKey) === "yes")
  const toggle = () => {
    localStorage.setItem(splitKey, isSplit ? "no" : "yes")
    setSplit(!isSplit)
  }
  useShortcuts({ s: toggle })
  const loadMore = useMore(data, sessionId, fromId, toId, change)
  const file = data?.files.find(({ path }) => path === chosen) ?? data?.files[0]
  const onRange = useCallback((_: number, last: number) => loadMore(last), [loadMore])
  if (error) {
    return (
      <Problem error={error}>
        <Button onClick={reload}>Try again</Button>
      </Problem>
    )
  }
  if (data === undefined) return <Loading what="the changes" />
  if (data.files.length === 0)
    return toId === null ? (
      <Empty title="The workspace is as it was then.">
        <Button onClick={reload}>Look again</Button>
      </Empty>
    ) : (
      <Empty title="No file differs." />
    )
  return (
    <div className="diff">
      <div className="diff-files" style={{ "--rows": data.files.length } as CSSProperties}>
        <p className="diff-sum">
          {plural(data.total, "file")} <Counts insertions={data.insertions} deletions={data.deletions} />
        </p>
        <VirtualList
          label="Changed files"
          items={data.files}
          keyOf={({ path }) => path}
          estimate={() => 32}
          current={data.files.findIndex(({ path }) => path === file?.path)}
          onRange={onRange}
          render={(one, _, focus) => (
            <button
              type="button"
              className="diff-name"
              aria-current={one.path === file?.path ? "true" : undefined}
              onClick={() => setChosen(one.path)}
              {...focus}
            >
              <span className={`letter letter-${one.status}`} title={one.status}>
                {letters[one.status]}
                <span className="hidden"> {one.status}</span>
              </span>
              <span className="diff-path">
                <Name isCode>{one.path}</Name>
              </span>
              {one.binary ? <span className="muted">bin</span> : <Counts {...one} />}
            </button>
          )}
        />
      </div>
      <div className="diff-main">
        <div className="diff-head">
          {file?.from ? (
            <span className="diff-title">
              <Name isCode>{file.from}</Name> → <Name isCode>{file.path}</Name>
            </span>
          ) : (
            <span className="diff-title">
              <Name isCode>{file?.path ?? ""}</Name>
            </span>
          )}
          {toId === null ? (
            <Button kind="quiet" icon="restore" onClick={reload} title="The workspace may have changed since">
              Look again
            </Button>
          ) : null}
          <Button kind="quiet" icon={isSplit ? "rows" : "columns"} onClick={toggle} title="s">
            {isSplit ? "One column" : "Side by side"}
          </Button>
        </div>
        {file ? (
          <DiffFileView
            key={`${file.path} ${data.look}`}
            sessionId={sessionId}
            fromId={fromId}
            toId={toId}
            file={file}
            isSplit={isSplit}
          />
        ) : null}
      </div>
    </div>
  )
}

/** Asks for the next page of files when the end of what is loaded comes into view. */
function useMore(
  data: DiffList | undefined,
  sessionId: string,
  fromId: string,
  toId: string | null,
  change: (how: (data: DiffList) => DiffList) => void,
): (last: number) => void {
  const [wanted, setWanted] = useState(0)
  const have = data?.files.length ?? 0
  const offset = useMemo(
    () => (have > 0 && wanted >= have - 1 && have < (data?.total ?? 0) ? have : null),
    [have, wanted, data],
  )
  const look = data?.look
  useEffect(() => {
    if (offset === null || look === undefined) return
    const controller = new AbortController()
    const query = { ...(toId === null ? {} : { to: toId }), look, offset, limit: pageLimit }
    api.diff(sessionId, fromId, query, controller.signal).then(
      (page) => change((before) => ({ ...before, files: [...before.files.slice(0, offset), ...page.files] })),
      () => setWanted(0), // asked again when the end comes into view again
    )
    return () => controller.abort()
  }, [offset, look, sessionId, fromId, toId, change])
  return setWanted
}
