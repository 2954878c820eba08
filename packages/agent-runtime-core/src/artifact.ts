/** Something a session produced and kept: plan, diff, report, long output. */
import type { ArtifactId, SessionId } from "./ids.js"

export interface Artifact {
  /** As the agent named it, unique in the store; `image_<hash>` for an image. Not a UUID by itself. */
  readonly id: ArtifactId
  readonly sessionId: SessionId | null
  readonly type: string
  readonly schemaVersion: string
  readonly title: string
  /** Task the artifact belongs to, as the agent names it. */
  readonly taskNodeId: string | null
  /** SHA-256 of the content, in hex. */
  readonly hash: string
  readonly mediaType: string
  readonly sizeBytes: number
  readonly createdAt: number
  /** Why it is kept apart, if its payload did not fit its schema. */
  readonly quarantine: readonly string[] | null
  readonly renderHints: Readonly<Record<string, unknown>> | null
  /** A second emission with the same key in the same session is the same artifact, also after a crash. */
  readonly idempotencyKey: string | null
}

/** What an agent hands over to be kept. */
export interface ArtifactEnvelope {
  readonly id: string
  readonly type: string
  readonly schemaVersion: string
  readonly title: string
  readonly payload: unknown
  readonly taskNodeId: string
  /** ISO 8601. */
  readonly createdAt: string
  readonly renderHints?: Readonly<Record<string, unknown>>
}
