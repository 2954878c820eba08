/** New ids for old ones, the same new one wherever the old one stood, also in the data of entries that name them. */
import type { IdSource } from "@ku0/agent-runtime-core"

export interface IdMap {
  /** A session, checkpoint or restore. */
  id(old: string): string
  /** An artifact; one that did not come along, or whose name is free here, keeps it. */
  artifact(old: string): string
  /** Another name for an artifact, from now on. */
  renameArtifact(old: string): void
  /** The data of an entry, with the ids that keepup put there. What people and agents wrote is not touched. */
  data(type: string, data: unknown): unknown
}

type Fields = Readonly<Record<string, unknown>>

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const idFields = ["checkpointId", "safetyCheckpointId", "restoreId"] as const

/** `sessions` are the old ids of the sessions that come along. */
export function createIdMap(ids: IdSource, sessions: ReadonlySet<string>): IdMap {
  const known = new Map<string, string>()
  const artifacts = new Map<string, string>()

  function id(old: string): string {
    const found = known.get(old)
    if (found !== undefined) return found
    const fresh = ids.next()
    known.set(old, fresh)
    return fresh
  }

  const isId = (value: unknown): value is string => typeof value === "string" && uuid.test(value)
  const artifact = (old: string) => artifacts.get(old) ?? old

  function keepupFields(data: Fields): Fields {
    const changed: Record<string, unknown> = {}
    for (const name of idFields) if (isId(data[name])) changed[name] = id(data[name])
    const { checkpointIds, parent } = data
    if (Array.isArray(checkpointIds)) changed["checkpointIds"] = checkpointIds.map((one) => (isId(one) ? id(one) : one))
    const parentId = (parent as Fields | undefined)?.["sessionId"]
    if (isId(parentId)) changed["parent"] = { ...(parent as Fields), sessionId: id(parentId) }
    return { ...data, ...changed }
  }

  function messageFields(data: Fields): Fields {
    const message = data["message"] as { artifactIds?: readonly string[] }
    if (message.artifactIds === undefined) return data
    return { ...data, message: { ...message, artifactIds: message.artifactIds.map(artifact) } }
  }

  return {
    id,
    artifact,
    renameArtifact(old) {
      artifacts.set(old, ids.next())
    },
    data(type, data) {
      if (typeof data !== "object" || data === null || Array.isArray(data)) return data
      const fields = data as Fields
      if (type === "message:added") return messageFields(fields)
      if (type === "artifact:emitted" || type === "artifact:quarantined") {
        return { ...fields, artifactId: artifact(fields["artifactId"] as string) }
      }
      if (type === "agent:spawned") {
        const { sessionId } = fields
        return isId(sessionId) && sessions.has(sessionId) ? { ...fields, sessionId: id(sessionId) } : fields
      }
      return /^(session|checkpoint|history):/.test(type) ? keepupFields(fields) : fields
    },
  }
}
