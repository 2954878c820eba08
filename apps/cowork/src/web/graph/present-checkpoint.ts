/** The checkpoint that holds a session's files as its history has them. Pure. */
import type { Graph, GraphNode } from "../../api.js"

/**
 * The newest one in the history of the head. One taken before a restore holds what was there before it, not what the
 * session went on with: that is what it was restored to, the checkpoint before.
 */
export function findPresentCheckpoint(
  graph: Pick<Graph, "sessions" | "nodes">,
  sessionId: string,
): GraphNode | undefined {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]))
  const passed = new Set<string>()
  let node = byId.get(graph.sessions.find(({ id }) => id === sessionId)?.headCheckpointId ?? "")
  while (node?.trigger === "before-restore" && !passed.has(node.id)) {
    passed.add(node.id)
    node = byId.get(node.parentId ?? "")
  }
  return node
}
