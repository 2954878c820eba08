/** What the bench bundles of keepup's snapshot engine. */
export { openSnapshotStore } from "../../packages/agent-runtime-persistence/src/snapshot/snapshot-store.ts"
