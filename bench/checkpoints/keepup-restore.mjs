/** keepup's way back to a checkpoint, for a process of its own. */
import { loadKeepup, openSession } from "./keepup.mjs"

export async function keepupRestore(root, folder) {
  const keepup = await loadKeepup()
  if (!keepup) return null
  let begun = 0
  const onStep = (step) => {
    if (step === "capture:done" || step === "restore:check") begun ||= performance.now()
  }
  const { store, manager, snapshots, take, close } = await openSession(keepup, root, folder, { onStep })
  let target
  return {
    async keepTarget() {
      target = await take()
    },
    async keepChanges() {
      await take()
    },
    /**
     * Tells how long the safety snapshot had the program for itself. From when the first file is staged on, everything
     * counts as the restore, what is left of the snapshot included.
     */
    async goBack() {
      begun = 0
      const start = performance.now()
      await keepup.restoreCheckpoint({ store, manager, snapshots: async () => snapshots }, { checkpoint: target })
      return begun - start
    },
    close,
  }
}
