/** Removes content files that no artifact of a store names any more. */
import type { StoreContext } from "../store/store-context.js"
import type { ArtifactContent } from "./artifact-content.js"
import type { SweepContentResult } from "./sweep-content.js"

export interface SweepArtifactsOptions {
  /** An hour unless told: an artifact's content is written before its record. */
  readonly olderThanMs?: number
}

/** The content folder must belong to this store alone: what another store names looks unreachable from here. */
export async function sweepArtifacts(
  context: StoreContext,
  content: ArtifactContent,
  options: SweepArtifactsOptions = {},
): Promise<SweepContentResult> {
  const isReachable = async (hash: string) =>
    (await context.driver.get("SELECT 1 AS found FROM artifacts WHERE hash = ?", [hash])) !== undefined
  return content.sweep(isReachable, options.olderThanMs)
}
