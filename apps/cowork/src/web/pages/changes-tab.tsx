/** What changed: since the checkpoint before, since any other one, or from here to the workspace as it is now. */
import { useId } from "react"
import type { CheckpointDetail, Graph, GraphNode } from "../../api.js"
import { DiffView } from "../diff/diff-view.js"
import { Empty } from "../parts/basics.js"
import { triggerLabels } from "../state/labels.js"
import { replaceRoute } from "../use-route.js"
import { visibleName } from "../visible-text.js"
import type { CheckpointRoute } from "./checkpoint-pane.js"

interface ChangesTabProps {
  readonly route: CheckpointRoute
  readonly data: CheckpointDetail
  readonly graph: Graph | undefined
}

/** More than so many are not a list one can choose from. */
const mostChoices = 200

export function ChangesTab({ route, data, graph }: ChangesTabProps) {
  const field = useId()
  const { checkpoint, parentId } = data
  const nodes = graph?.nodes ?? []
  const wanted = route.detail ?? (parentId === null ? "now" : "parent")
  const others = nodes.filter(({ id, hasFiles }) => id !== checkpoint.id && hasFiles)
  const choices = others.slice(-mostChoices).reverse()
  const names = new Map(graph?.sessions.map(({ id, name }) => [id, name]))
  if (!data.hasFiles) return <Empty title="This checkpoint holds no files on this machine." />
  const fromId = wanted === "parent" ? parentId : wanted
  const from = nodes.find(({ id }) => id === fromId)
  return (
    <div className="pane-body changes">
      <div className="toolbar">
        <label htmlFor={field}>Changes</label>
        <select id={field} value={wanted} onChange={(event) => replaceRoute({ ...route, detail: event.target.value })}>
          {parentId === null ? null : <option value="parent">since the checkpoint before</option>}
          <option value="now">from here to the workspace now</option>
          <optgroup label="since another checkpoint">
            {choices.map((node) => (
              <option key={node.id} value={node.id}>
                {nameNode(node, checkpoint.sessionId, names)}
              </option>
            ))}
          </optgroup>
        </select>
      </div>
      {wanted === "now" ? (
        <DiffView key="now" sessionId={checkpoint.sessionId} fromId={checkpoint.id} toId={null} />
      ) : fromId === null ? (
        <Empty title="This is the first checkpoint: there is nothing before it." />
      ) : (
        <DiffView
          key={fromId}
          sessionId={from?.sessionId ?? checkpoint.sessionId}
          fromId={fromId}
          toId={checkpoint.id}
        />
      )}
    </div>
  )
}

function nameNode(node: GraphNode, sessionId: string, names: ReadonlyMap<string, string>): string {
  const where = node.sessionId === sessionId ? "" : ` in ${visibleName(names.get(node.sessionId) ?? "another session")}`
  return `#${node.number} ${node.name === null ? triggerLabels[node.trigger] : visibleName(node.name)}${where}`
}
