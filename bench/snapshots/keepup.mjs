/** keepup's own engine, bundled from source; null as long as it can't be bundled, or can't watch. */
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { bundle } from "../harness/build.mjs"

let bundled

export function keepupBundle() {
  bundled ??= bundle("snapshots/keepup-entry.ts", "esm")
  return bundled
}

/** The options every store of the bench is opened with: nobody's home, nobody's git configuration. */
export function storeOptions(workspacePath, folder) {
  return {
    workspacePath,
    storeDirectory: join(folder, "store"),
    homeDirectory: join(folder, "home"),
    environment: { PATH: process.env.PATH, HOME: join(folder, "home"), LC_ALL: "C" },
    clock: { now: () => Date.now() },
  }
}

function makeKeepup({ watch }) {
  return async (workspace, folder, file) => {
    const { openSnapshotStore } = await import(pathToFileURL(file).href)
    const open = async () => {
      const opened = await openSnapshotStore(storeOptions(workspace, folder))
      return watch && !(await opened.watch()) ? await opened.close().then(() => null) : opened
    }
    let number = 0
    // Whoever watches must know that it can; otherwise making the store is part of the first snapshot, as it is for the peers.
    let store = watch ? await open() : undefined
    if (store === null) return null
    const take = async () => {
      const snapshot = await store.capture({ message: "checkpoint", checkpointId: `bench-${++number}`, exact: !watch })
      return snapshot.commit
    }
    return {
      async first() {
        store ??= await open()
        return take()
      },
      snapshot: take,
      /** The safety snapshot that is part of it looks at everything, or trusts the watcher. */
      async restore(id) {
        await store.restore(id, { safetyCheckpointId: `bench-${++number}`, exact: !watch })
      },
      /** Closing waits for the work in the background, which has no other bell. */
      async settle() {
        await store.close()
        store = await open()
        // What a resident process has behind it long before: one look at everything.
        if (watch) await take()
      },
      async compact() {
        await store.consolidate()
      },
      close: () => store?.close(),
    }
  }
}

export const keepupExact = makeKeepup({ watch: false })
export const keepupResident = makeKeepup({ watch: true })
