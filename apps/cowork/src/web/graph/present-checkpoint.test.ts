import { describe, expect, it } from "vitest"
import type { Graph, GraphNode } from "../../api.js"
import { findPresentCheckpoint } from "./present-checkpoint.js"

const node = (id: string, parentId: string | null, trigger = "turn.ended") => ({ id, parentId, trigger }) as GraphNode
const graph = (headCheckpointId: string | null, nodes: GraphNode[]) =>
  ({ sessions: [{ id: "s", headCheckpointId }], nodes }) as unknown as Graph

describe("the checkpoint of the present", () => {
  it("is the newest one in the history of the head", () => {
    expect(findPresentCheckpoint(graph("b", [node("a", null), node("b", "a")]), "s")?.id).toBe("b")
  })

  it("of a fresh branch is the one it was branched from, not what was kept before", () => {
    const nodes = [node("a", null), node("b", "a", "before-restore"), node("c", "b", "before-restore")]
    expect(findPresentCheckpoint(graph("c", nodes), "s")?.id).toBe("a")
  })

  it("is none without a checkpoint, and on a ring of parents it ends", () => {
    expect(findPresentCheckpoint(graph(null, []), "s")).toBeUndefined()
    expect(findPresentCheckpoint(graph("a", [node("a", "a", "before-restore")]), "s")?.id).toBe("a")
  })
})
