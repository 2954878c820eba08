import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type GraphNode, type GraphRow, layOutGraph } from "./lane-layout.js"

/** A forest in which each node's parent is an earlier one; times may disagree with that. */
const forest = fc
  .array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 40 }), fc.boolean()), { maxLength: 60 })
  .map((facts) =>
    facts.map(([pick, createdAt, isRoot], index): GraphNode => {
      const parentId = index === 0 || isRoot ? null : `n${pick % index}`
      return { id: `n${index}`, parentId, createdAt }
    }),
  )
const graph = forest.chain((nodes) => fc.tuple(fc.shuffledSubarray(nodes), fc.nat({ max: 70 })))

describe("the layout of the checkpoint graph", () => {
  it("has one row for each checkpoint, and every child stands above its parent", () => {
    fc.assert(
      fc.property(graph, ([nodes, head]) => {
        const { rows } = layOutGraph(nodes, `n${head}`)
        expect(rows.map(({ node }) => node.id).sort()).toEqual(nodes.map(({ id }) => id).sort())
        const rowOf = new Map(rows.map(({ node }, row) => [node.id, row]))
        for (const { node } of rows) {
          const parent = rowOf.get(node.parentId ?? "")
          if (parent !== undefined) expect(rowOf.get(node.id)).toBeLessThan(parent)
        }
      }),
    )
  })

  it("draws every line without a gap from a child's dot to its parent's, and no other line", () => {
    fc.assert(
      fc.property(graph, ([nodes, head]) => {
        const { rows } = layOutGraph(nodes, `n${head}`)
        const drawn = rows.flatMap((row, index) => (hasKind(row, "out") ? [followLine(rows, index)] : []))
        const ids = new Set(nodes.map(({ id }) => id))
        const wanted = nodes.filter(({ parentId }) => ids.has(parentId ?? ""))
        expect(drawn.sort()).toEqual(wanted.map(({ id, parentId }) => `${id} → ${parentId}`).sort())
        const pieces = rows.flatMap(({ segments }) => segments.filter(({ kind }) => kind === "in"))
        expect(pieces).toHaveLength(wanted.length)
      }),
    )
  })

  it("never lets a line pass through a dot, nor two lines share a lane in a row", () => {
    fc.assert(
      fc.property(graph, ([nodes, head]) => {
        for (const row of layOutGraph(nodes, `n${head}`).rows) {
          const above = row.segments.filter(({ kind }) => kind !== "out").map(({ lane }) => lane)
          const below = row.segments.filter(({ kind }) => kind !== "in").map(({ lane }) => lane)
          expect(new Set(above).size).toBe(above.length)
          expect(new Set(below).size).toBe(below.length)
          expect(row.segments).not.toContainEqual({ kind: "through", lane: row.lane })
        }
      }),
    )
  })

  it("keeps the history of the head in lane 0, alone", () => {
    fc.assert(
      fc.property(graph, ([nodes, head]) => {
        const { rows, laneCount } = layOutGraph(nodes, `n${head}`)
        const byId = new Map(nodes.map((node) => [node.id, node]))
        const history: string[] = []
        for (let at = byId.get(`n${head}`); at; at = byId.get(at.parentId ?? "")) history.push(at.id)
        expect(rows.filter(({ lane }) => lane === 0).map(({ node }) => node.id)).toEqual(history)
        for (const { lane, segments } of rows) {
          for (const one of [lane, ...segments.map((segment) => segment.lane)]) expect(one).toBeLessThan(laneCount)
        }
      }),
    )
  })

  it("does not depend on the order it is given, and ends on a ring of parents", () => {
    fc.assert(
      fc.property(graph, ([nodes, head]) => {
        expect(layOutGraph([...nodes].reverse(), `n${head}`)).toEqual(layOutGraph(nodes, `n${head}`))
      }),
    )
    const ring: GraphNode[] = [
      { id: "a", parentId: "b", createdAt: 1 },
      { id: "b", parentId: "a", createdAt: 2 },
      { id: "c", parentId: "c", createdAt: 3 },
    ]
    expect(layOutGraph(ring, "a").rows).toHaveLength(3)
  })

  it("gives a branch its own lane and says where a line is cut", () => {
    const { rows, laneCount } = layOutGraph(
      [
        { id: "1", parentId: "0", createdAt: 1 },
        { id: "2", parentId: "1", createdAt: 2 },
        { id: "3", parentId: "2", createdAt: 3 },
        { id: "b", parentId: "1", createdAt: 4 },
      ],
      "3",
    )
    expect(rows.map(({ node, lane, isCut }) => [node.id, lane, isCut])).toEqual([
      ["b", 1, false],
      ["3", 0, false],
      ["2", 0, false],
      ["1", 0, true],
    ])
    expect(laneCount).toBe(2)
  })
})

function hasKind(row: GraphRow, kind: string): boolean {
  return row.segments.some((segment) => segment.kind === kind)
}

/** Follows the line that leaves the dot of a row downwards. */
function followLine(rows: readonly GraphRow[], from: number): string {
  const start = rows[from] as GraphRow
  for (let row = from + 1; row < rows.length; row++) {
    const here = rows[row] as GraphRow
    const piece = here.segments.find(({ lane, kind }) => lane === start.lane && kind !== "out")
    if (piece === undefined) return `${start.node.id} ends nowhere`
    if (piece.kind === "in") return `${start.node.id} → ${here.node.id}`
  }
  return `${start.node.id} ends nowhere`
}
