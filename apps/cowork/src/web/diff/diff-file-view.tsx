/** One file's differences, in one column or two. Only the rows that are seen are in the page, whatever its size. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { useMemo, useRef } from "react"
import type { FileChangeJson } from "../../api.js"
import { api } from "../client.js"
import { Empty, Loading, Problem } from "../parts/basics.js"
import { useLoad } from "../use-load.js"
import { visibleName, visibleText } from "../visible-text.js"
import { type SplitRow, toSplitRows, toUnifiedRows, type UnifiedRow } from "./diff-rows.js"
import { markWords } from "./mark-words.js"
import { type DiffLine, parsePatch } from "./parse-patch.js"

interface DiffFileViewProps {
  readonly sessionId: string
  readonly fromId: string
  readonly toId: string | null
  readonly file: FileChangeJson
  readonly isSplit: boolean
}

const longestLine = 5_000

export function DiffFileView({ sessionId, fromId, toId, file, isSplit }: DiffFileViewProps) {
  const query = { ...(toId === null ? {} : { to: toId }), ...(file.from === undefined ? {} : { from: file.from }) }
  const { data, error } = useLoad(`patch ${sessionId} ${fromId} ${toId} ${file.path}`, (signal) =>
    api.diffFile(sessionId, fromId, file.path, query, signal),
  )
  const hunks = useMemo(() => (data ? parsePatch(data.patch) : []), [data])
  const rows = useMemo(
    (): readonly (UnifiedRow | SplitRow)[] => (isSplit ? toSplitRows(hunks) : toUnifiedRows(hunks)),
    [hunks, isSplit],
  )
  if (error) return <Problem error={error} />
  if (data === undefined) return <Loading what="the lines" />
  if (rows.length === 0) return <Empty title={file.binary ? "The file is not text." : describeBare(file.status)} />
  return (
    <>
      {data.isCut ? (
        <p className="notice notice-warning">The file differs in more than fits here: this is its beginning.</p>
      ) : null}
      <Rows key={String(isSplit)} label={`Differences in ${visibleName(file.path)}`} rows={rows} isSplit={isSplit} />
    </>
  )
}

function describeBare(status: FileChangeJson["status"]): string {
  if (status === "renamed") return "It has another name and the same content."
  if (status === "mode") return "Only the executable bit changed."
  if (status === "type") return "It became another kind of file."
  return status === "added"
    ? "An empty file was added."
    : status === "deleted"
      ? "An empty file was deleted."
      : "No line differs."
}

function Rows({ label, rows, isSplit }: { label: string; rows: readonly (UnifiedRow | SplitRow)[]; isSplit: boolean }) {
  const scroller = useRef<HTMLElement>(null)
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 20,
    getItemKey: (index) => (rows[index] as UnifiedRow).key,
    overscan: 20,
  })
  return (
    <section
      className={`scroller diff-lines ${isSplit ? "diff-split" : ""}`}
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
      aria-label={label}
    >
      <div className="virtual" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map((item) => (
          <div
            key={item.key}
            className="virtual-row"
            data-index={item.index}
            ref={virtualizer.measureElement}
            style={{ transform: `translateY(${item.start}px)` }}
          >
            <Row row={rows[item.index] as UnifiedRow | SplitRow} />
          </div>
        ))}
      </div>
    </section>
  )
}

function Row({ row }: { readonly row: UnifiedRow | SplitRow }) {
  if (row.type === "hunk") {
    return (
      <div className="hunk">
        Line {Math.max(row.before, row.after)}
        {row.place === "" ? null : <span className="muted"> · {visibleText(row.place)}</span>}
      </div>
    )
  }
  if (row.type === "line") {
    return (
      <div className={`dline dline-${row.line.kind}`}>
        <span className="line-number">{row.line.before}</span>
        <span className="line-number">{row.line.after}</span>
        <Line line={row.line} partner={row.partner} />
      </div>
    )
  }
  return (
    <div className="pair">
      <Side line={row.left} partner={row.right} side="before" />
      <Side line={row.right} partner={row.left} side="after" />
    </div>
  )
}

function Side({ line, partner, side }: { line: DiffLine | null; partner: DiffLine | null; side: "before" | "after" }) {
  if (line === null) return <div className="dline dline-none" />
  return (
    <div className={`dline dline-${line.kind}`}>
      <span className="line-number">{line[side]}</span>
      <Line line={line} partner={line.kind === "same" ? null : partner} />
    </div>
  )
}

const signs = { same: " ", added: "+", removed: "−" } as const
const words = { same: "", added: "added: ", removed: "removed: " } as const

function Line({ line, partner }: { readonly line: DiffLine; readonly partner: DiffLine | null }) {
  const text = line.text.length > longestLine ? `${line.text.slice(0, longestLine)} …` : line.text
  const parts = markWords(text, partner?.text ?? null)
  let at = 0
  return (
    <>
      <span className="sign" aria-hidden="true">
        {signs[line.kind]}
      </span>
      <span className="line-text">
        {words[line.kind] === "" ? null : <span className="hidden">{words[line.kind]}</span>}
        {parts.map((part) => {
          const key = at
          at += part.text.length
          return part.isChanged ? (
            <mark key={key}>{visibleText(part.text)}</mark>
          ) : (
            <span key={key}>{visibleText(part.text)}</span>
          )
        })}
        {line.isOpenEnd ? <span className="muted"> (no line end)</span> : null}
      </span>
    </>
  )
}
