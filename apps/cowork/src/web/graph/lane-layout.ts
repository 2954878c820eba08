/**
 * Gives each checkpoint of a graph a row and a lane. Pure.
 * Rows go from the newest to the oldest and a child stands above its parent. The history that leads to the head is
 * lane 0, one straight line; every other branch has a lane of its own from its newest checkpoint down to where it
 * leaves another line, and a lane is given again once it is free.
 */

export interface GraphNode {
  readonly id: string
  /** The checkpoint its history continues from, if any. */
  readonly parentId: string | null
  readonly createdAt: number
}

/** A line in one row. `in`: from the top edge to the dot. `out`: from the dot to the bottom edge. `through`: past it. */
export interface Segment {
  readonly kind: "in" | "out" | "through"
  readonly lane: number
}

export interface GraphRow<Node extends GraphNode = GraphNode> {
  readonly node: Node
  readonly lane: number
  readonly segments: readonly Segment[]
  /** Its parent is not in the graph: pruned, or not loaded yet. */
  readonly isCut: boolean
}

export interface GraphLayout<Node extends GraphNode = GraphNode> {
  readonly rows: readonly GraphRow<Node>[]
  readonly laneCount: number
}

export function layOutGraph<Node extends GraphNode>(nodes: readonly Node[], headId: string | null): GraphLayout<Node> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const straight = collectHistory(byId, headId)
  /** lane → id of the parent the line in it leads to */
  const lanes: (string | undefined)[] = []
  let laneCount = nodes.length > 0 ? 1 : 0
  const rows = sortChildrenFirst(byId).map((node): GraphRow<Node> => {
    const arriving = lanes.flatMap((parentId, lane) => (parentId === node.id ? [lane] : []))
    const lane = straight.has(node.id) ? 0 : (arriving.find((one) => one > 0) ?? firstFree(lanes))
    const segments: Segment[] = lanes.flatMap((parentId, one): Segment[] => {
      if (parentId === undefined) return []
      return [{ kind: parentId === node.id ? "in" : "through", lane: one }]
    })
    for (const one of arriving) lanes[one] = undefined
    const hasParent = node.parentId !== null && node.parentId !== node.id && byId.has(node.parentId)
    if (hasParent) {
      lanes[lane] = node.parentId as string
      segments.push({ kind: "out", lane })
    }
    laneCount = Math.max(laneCount, lane + 1)
    return { node, lane, segments, isCut: node.parentId !== null && !hasParent }
  })
  return { rows, laneCount }
}

function collectHistory(byId: ReadonlyMap<string, GraphNode>, headId: string | null): ReadonlySet<string> {
  const ids = new Set<string>()
  for (let at = byId.get(headId ?? ""); at !== undefined && !ids.has(at.id); at = byId.get(at.parentId ?? "")) {
    ids.add(at.id)
  }
  return ids
}

/** Lane 0 belongs to the history of the head. */
function firstFree(lanes: readonly (string | undefined)[]): number {
  for (let lane = 1; ; lane++) if (lanes[lane] === undefined) return lane
}

/** Newest first; where clocks disagree, a child still comes before its parent. */
function sortChildrenFirst<Node extends GraphNode>(byId: ReadonlyMap<string, Node>): Node[] {
  const newestFirst = [...byId.values()].sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
  const children = new Map<string, Node[]>()
  for (const node of newestFirst) {
    if (node.parentId === null) continue
    const list = children.get(node.parentId)
    if (list) list.push(node)
    else children.set(node.parentId, [node])
  }
  const sorted: Node[] = []
  const state = new Map<string, "open" | "done">()
  for (const first of newestFirst) {
    const stack = [first]
    while (stack.length > 0) {
      const node = stack.at(-1) as Node
      const waiting = state.has(node.id)
        ? undefined
        : (children.get(node.id) ?? []).filter((child) => !state.has(child.id))
      if (waiting !== undefined) state.set(node.id, "open")
      if (waiting !== undefined && waiting.length > 0) {
        stack.push(...waiting.reverse())
        continue
      }
      stack.pop()
      if (state.get(node.id) !== "done") sorted.push(node)
      state.set(node.id, "done")
    }
  }
  return sorted
}
