/** What the parts of a store share. */
import type { Clock, IdSource } from "@ku0/agent-runtime-core"
import type { ArtifactContent } from "../artifact/artifact-store.js"
import type { SqlDriver, StepProbe } from "./sql-driver.js"

export interface StoreContext {
  readonly driver: SqlDriver
  readonly clock: Clock
  readonly ids: IdSource
  /** Names this machine on checkpoints and leases. */
  readonly host: string
  readonly onStep: StepProbe
  /** Where artifact content lies, if not in the database. */
  readonly artifactContent?: ArtifactContent
  /** Called after entries were committed by this process: wakes those who tail. */
  readonly onAppended: Set<(sessionId: string) => void>
}
