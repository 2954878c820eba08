/** keepup's way back to a checkpoint, for a process of its own. */
import { loadKeepup, openSession } from "./keepup.mjs"

export async function keepupRestore(root, folder) {
  const keepup = await loadKeepup()
  if (!keepup) return null
  let lastStep = 0
  const onStep = (step) => {
    if (step === "capture:done") lastStep = performance.now()
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
    /** Tells how long the safety snapshot took. Its record is made while files are written already: it counts as the restore. */
    async goBack() {
      const start = performance.now()
      await keepup.restoreCheckpoint({ store, manager, snapshots: async () => snapshots }, { checkpoint: target })
      return lastStep - start
    },
    close,
  }
}
