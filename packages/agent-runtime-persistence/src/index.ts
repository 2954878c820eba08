/** Keeping and going back: stores, sessions, checkpoints, snapshots, artifacts. */
export type { ArtifactContent } from "./artifact/artifact-store.js"
export {
  type CleanupSessionsOptions,
  type CleanupSessionsResult,
  cleanupSessions,
} from "./session/cleanup-sessions.js"
export { type CollectGarbageOptions, type CollectGarbageResult, collectGarbage } from "./store/collect-garbage.js"
export { type OpenStoreOptions, openStore, type Store } from "./store/open-store.js"
