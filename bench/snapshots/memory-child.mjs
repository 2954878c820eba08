/** One snapshot in a process of its own; its parent watches the memory. */
import { pathToFileURL } from "node:url"
import { storeOptions } from "./keepup.mjs"

const [, , bundle, workspace, folder, nothing] = process.argv
if (nothing) await new Promise((next) => setTimeout(next, 200))
else {
  const { openSnapshotStore } = await import(pathToFileURL(bundle).href)
  const store = await openSnapshotStore(storeOptions(workspace, folder))
  await store.capture({ message: "checkpoint", checkpointId: `memory-${process.pid}`, exact: true })
  // Without close(): the work in the background is not part of the snapshot.
  process.exit(0)
}
