/**
 * Watches the workspace's folders and remembers where something happened. What it says is a hint: it may say too much,
 * and when it may have said too little it says so. Linux only: there every folder is watched by itself, events arrive
 * in order, and a file of our own tells when all earlier ones have arrived.
 */
import { type FSWatcher, readFileSync, watch, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { type BytePath, isInside, joinPath } from "./byte-path.js"
import { makeFolder, removeFile } from "./durable-file.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"

export interface Hints {
  readonly paths: ReadonlySet<BytePath>
  /** False when events may have been lost since the last call. */
  readonly isReliable: boolean
}

/** Told about folders while they are read, so that a folder is watched before its names are. */
export interface FolderFollower {
  follow(folder: BytePath, inode: number): void
  /** The folder and everything in it is gone, or is another one now. */
  forget(folder: BytePath): void
}

export interface ChangeHints extends FolderFollower {
  /** Everything that happened before this call and since the last one. */
  take(): Promise<Hints>
  close(): void
}

/** How long our own file may take to be noticed; on a machine too busy for that, everything is looked at. */
const cookieMs = 200

/** Undefined where the system can't watch, or not that many folders. */
export async function watchChanges(environment: SnapshotEnvironment): Promise<ChangeHints | undefined> {
  if (process.platform !== "linux") return undefined
  const { files, store } = environment
  const cookies = join(store, "cookies")
  const queueLimit = readQueueLimit()
  const watched = new Map<BytePath, { readonly inode: number; readonly watcher: FSWatcher }>()
  let paths = new Set<BytePath>()
  let isReliable = false // what happened before the first exact scan is unknown
  let isBlind = false
  let burst = 0
  let isCounting = false
  let onCookie: ((name: string) => void) | undefined
  makeFolder(cookies)

  /** The kernel drops events silently when its queue is full; that many in one go means it may have been. */
  function count(): void {
    burst++
    if (burst > queueLimit / 4) isReliable = false
    if (isCounting) return
    isCounting = true
    setImmediate(() => {
      isCounting = false
      burst = 0
    })
  }

  function follow(folder: BytePath, inode: number): void {
    if (watched.get(folder)?.inode === inode) return
    stop(folder)
    try {
      const watcher = watch(files.resolve(folder), { encoding: "latin1", persistent: false }, (_, name) => {
        count()
        if (name === null) isReliable = false
        else paths.add(joinPath(folder, name as string))
      })
      watcher.on("error", () => {
        isReliable = false
        stop(folder)
      })
      watched.set(folder, { inode, watcher })
    } catch (error) {
      // A folder that just went is its parent's news; anything else means that we can't watch all of them.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") isBlind = true
    }
  }

  function stop(folder: BytePath): void {
    watched.get(folder)?.watcher.close()
    watched.delete(folder)
  }

  const cookieWatcher = watch(cookies, { persistent: false }, (_, name) => onCookie?.(name as string))
  cookieWatcher.on("error", () => {
    isReliable = false
  })
  let serial = 0

  async function flush(): Promise<boolean> {
    const name = `${process.pid}-${++serial}`
    const seen = new Promise<boolean>((resolve) => {
      onCookie = (noticed) => noticed === name && resolve(true)
    })
    writeFileSync(join(cookies, name), "")
    const controller = new AbortController()
    const late = wait(cookieMs, false, { signal: controller.signal }).catch(() => false)
    const arrived = await Promise.race([seen, late])
    controller.abort()
    removeFile(join(cookies, name))
    return arrived
  }

  return {
    follow,
    forget(folder) {
      if (!watched.has(folder)) return
      for (const inner of [...watched.keys()]) if (isInside(inner, folder)) stop(inner)
    },
    async take() {
      if (!(await flush())) isReliable = false
      const taken = { paths, isReliable: isReliable && !isBlind }
      paths = new Set()
      isReliable = true
      return taken
    },
    close() {
      cookieWatcher.close()
      for (const { watcher } of watched.values()) watcher.close()
      watched.clear()
    },
  }
}

function readQueueLimit(): number {
  try {
    return Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "latin1")) || 16_384
  } catch {
    return 16_384
  }
}
