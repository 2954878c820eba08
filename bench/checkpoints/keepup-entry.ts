/** What the bench bundles of keepup's checkpoints. */

export { insertCheckpoint } from "../../packages/agent-runtime-persistence/src/checkpoint/checkpoint-store.ts"
export {
  createCheckpointManager,
  openSnapshotStore,
  openStore,
  readGitFacts,
  readGitSignature,
  restoreCheckpoint,
} from "../../packages/agent-runtime-persistence/src/index.ts"
