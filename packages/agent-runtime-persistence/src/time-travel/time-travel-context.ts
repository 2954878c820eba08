/** What going back needs: the store, the snapshots of a workspace, and the way checkpoints are taken. */
import type { CheckpointManager } from "../checkpoint/checkpoint-manager.js"
import type { SnapshotStore } from "../snapshot/snapshot-store.js"
import type { Store } from "../store/open-store.js"

export interface TimeTravelContext {
  readonly store: Store
  readonly manager: CheckpointManager
  readonly snapshots: (workspacePath: string) => Promise<SnapshotStore>
}
