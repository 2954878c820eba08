/** Watches the folders of tracked files, not the whole workspace. It only says where to look; who listens decides. */
import { type FSWatcher, watch } from "node:fs"
import { basename, dirname, join } from "node:path"

export interface FolderWatch {
  /** Watches the folder of this file from now on. A folder that can't be watched is left out. */
  add(path: string): void
  close(): void
}

/** `onChange` hears of a path once it has been quiet for `settleMs`; it must not throw. Nothing keeps the process alive. */
export function createFolderWatch(onChange: (path: string) => void, settleMs: number): FolderWatch {
  const watchers = new Map<string, FSWatcher>()
  const files = new Map<string, Set<string>>()
  const timers = new Map<string, NodeJS.Timeout>()

  function settle(path: string): void {
    clearTimeout(timers.get(path))
    const timer = setTimeout(() => {
      timers.delete(path)
      onChange(path)
    }, settleMs)
    timers.set(path, timer.unref())
  }

  function hear(folder: string, name: string | null): void {
    const known = files.get(folder) ?? new Set()
    if (name !== null && known.has(join(folder, name))) settle(join(folder, name))
    // A folder that was removed or moved is not watched any more, also not one that takes its place.
    else if (name === null || name === basename(folder)) stop(folder)
  }

  /** Looks at every file of the folder once more; the next `add` watches it again. */
  function stop(folder: string): void {
    watchers.get(folder)?.close()
    watchers.delete(folder)
    for (const path of files.get(folder) ?? []) settle(path)
  }

  return {
    add(path) {
      const folder = dirname(path)
      files.set(folder, (files.get(folder) ?? new Set()).add(path))
      if (watchers.has(folder)) return
      try {
        const watcher = watch(folder, { persistent: false }, (_kind, name) => hear(folder, name))
        watcher.on("error", () => stop(folder))
        watchers.set(folder, watcher)
      } catch {
        // No early warning for this folder; the check at edit time does not need one.
      }
    },
    close() {
      for (const timer of timers.values()) clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
      timers.clear()
      watchers.clear()
      files.clear()
    },
  }
}
