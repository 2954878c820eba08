/** Something a session produced and kept: plan, diff, report, long output. */
import type { ArtifactId, SessionId } from "./ids.js"

export interface Artifact {
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
}

/** What an agent hands over to be kept. */
export interface ArtifactEnvelope {
  readonly id: string
  readonly type: string
  readonly schemaVersion: string
  readonly title: string
  readonly payload: unknown
  readonly taskNodeId: string
  readonly createdAt: string
  readonly renderHints?: Readonly<Record<string, unknown>>
}
