/** The checkpoints of a session and of all its branches: lanes at the left, one row each, newest on top. */
import { useMemo } from "react"
import type { Graph, GraphNode } from "../../api.js"
import { plural } from "../format.js"
import { Empty, Go, Name, Time } from "../parts/basics.js"
import { Icon } from "../parts/icon.js"
import { type RowFocus, VirtualList } from "../parts/virtual-list.js"
import { triggerLabels } from "../state/labels.js"
import { type GraphRow, layOutGraph, type Segment } from "./lane-layout.js"

const rowHeight = 48
const laneWidth = 16
const mostLanes = 8

interface CheckpointGraphProps {
  readonly graph: Graph
  readonly sessionId: string
  readonly currentId: string | null
}

export function CheckpointGraph({ graph, sessionId, currentId }: CheckpointGraphProps) {
  const here = graph.sessions.find(({ id }) => id === sessionId)
  const headId = here?.headCheckpointId ?? null
  const { rows, laneCount } = useMemo(() => layOutGraph(graph.nodes, headId), [graph.nodes, headId])
  const names = useMemo(() => new Map(graph.sessions.map(({ id, name }) => [id, name])), [graph.sessions])
  const width = (Math.min(laneCount, mostLanes) + 0.5) * laneWidth
  if (rows.length === 0) {
    return (
      <Empty title="No checkpoints yet.">
        <p>Take one with the button above, or let the agent work: one is taken at the end of each turn.</p>
      </Empty>
    )
  }
  return (
    <>
      <VirtualList
        label="Checkpoints, newest first"
        className="graph"
        items={rows}
        keyOf={({ node }) => node.id}
        estimate={() => rowHeight}
        current={rows.findIndex(({ node }) => node.id === currentId)}
        render={(row, index, focus) => (
          <Row
            row={row}
            focus={focus}
            width={width}
            isCurrent={row.node.id === currentId}
            isHead={row.node.id === headId}
            isHere={row.node.sessionId === sessionId}
            branchName={
              row.node.sessionId !== sessionId && rows[index - 1]?.node.sessionId !== row.node.sessionId
                ? (names.get(row.node.sessionId) ?? null)
                : null
            }
          />
        )}
      />
      {graph.isCut ? <p className="muted graph-cut">The newest {rows.length.toLocaleString("en")} are shown.</p> : null}
    </>
  )
}

interface RowProps {
  readonly row: GraphRow<GraphNode>
  readonly focus: RowFocus
  readonly width: number
  readonly isCurrent: boolean
  readonly isHead: boolean
  readonly isHere: boolean
  readonly branchName: string | null
}

function Row({ row, focus, width, isCurrent, isHead, isHere, branchName }: RowProps) {
  const { node } = row
  const route = {
    page: "checkpoint",
    sessionId: node.sessionId,
    checkpointId: node.id,
    tab: "changes",
    detail: null,
  } as const
  return (
    <Go
      to={route}
      className={`graph-row ${isHere ? "" : "graph-row-other"}`}
      aria-current={isCurrent ? "true" : undefined}
      {...focus}
    >
      <Lanes row={row} width={width} isHead={isHead} />
      <span className="graph-text">
        <span className="graph-title">
          <b>#{node.number}</b>
          {node.name === null ? <span>{triggerLabels[node.trigger]}</span> : <Name>{node.name}</Name>}
          {isHead ? <span className="tag tag-accent">head</span> : null}
          {node.pinned ? (
            <span className="tag" title="Pinned: never removed by itself">
              <Icon name="pin" size={12} />
              <span className="hidden">pinned</span>
            </span>
          ) : null}
        </span>
        <span className="graph-facts">
          {branchName === null ? (
            <>
              {node.filesChanged > 0 ? `${plural(node.filesChanged, "file")} · ` : ""}message {node.messageIndex}
            </>
          ) : (
            <>
              in <Name>{branchName}</Name>
            </>
          )}
        </span>
      </span>
      <span className="graph-time">
        <Time at={node.createdAt} />
      </span>
    </Go>
  )
}

function Lanes({ row, width, isHead }: { row: GraphRow; width: number; isHead: boolean }) {
  const x = (lane: number) => (Math.min(lane, mostLanes - 1) + 0.75) * laneWidth
  const middle = rowHeight / 2
  return (
    <svg className="lanes" width={width} height={rowHeight} aria-hidden="true" focusable="false">
      {row.segments.map((segment) => (
        <path
          key={`${segment.kind} ${segment.lane}`}
          className={`lane lane-${segment.lane % 5}`}
          d={drawSegment(segment, x(segment.lane), x(row.lane), middle)}
        />
      ))}
      {row.isCut ? (
        <path className={`lane lane-cut lane-${row.lane % 5}`} d={`M${x(row.lane)} ${middle}V${rowHeight}`} />
      ) : null}
      <circle className={`dot lane-${row.lane % 5}`} cx={x(row.lane)} cy={middle} r={isHead ? 5.5 : 4} />
      {isHead ? <circle className="dot-hole" cx={x(row.lane)} cy={middle} r={2} /> : null}
    </svg>
  )
}

function drawSegment({ kind }: Segment, from: number, dot: number, middle: number): string {
  if (kind === "through") return `M${from} 0V${rowHeight}`
  if (kind === "out") return `M${dot} ${middle}V${rowHeight}`
  if (from === dot) return `M${from} 0V${middle}`
  return `M${from} 0C${from} ${middle} ${dot + Math.sign(from - dot) * laneWidth * 0.8} ${middle} ${dot} ${middle}`
}
