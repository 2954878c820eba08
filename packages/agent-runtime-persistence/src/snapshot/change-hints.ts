/**
 * Watches the workspace's folders and remembers where something happened. What it says is a hint: it may say too much,
 * and when it may have said too little it says so. Linux only: there every folder is watched by itself, events arrive
 * in order, and a file of our own tells when all earlier ones have arrived.
 */
import { closeSync, type FSWatcher, openSync, readFileSync, watch, writeSync } from "node:fs"
import { join } from "node:path"
import { randomHex } from "../store/lazy-crypto.js"
import { type BytePath, isInside, joinPath } from "./byte-path.js"
import { makeFolder, removeFile } from "./durable-file.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import { lookAtDisk } from "./workspace-files.js"

export interface Hints {
  readonly paths: ReadonlySet<BytePath>
  /** Those of them that came, went or were moved: what is there now is not what was there, even with the same inode. */
  readonly replaced: ReadonlySet<BytePath>
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

/** How long the event of our own file may take to be noticed; on a machine too busy for that, everything is looked at. */
const bellMs = 200

/** Undefined where the system can't watch, or not that many folders, or there is nothing to watch. */
export async function watchChanges(environment: SnapshotEnvironment): Promise<ChangeHints | undefined> {
  const { files, store } = environment
  if (process.platform !== "linux" || environment.isGone) return undefined
  const cookies = join(store, "cookies")
  const queueLimit = readQueueLimit()
  const watched = new Map<BytePath, { readonly inode: number; readonly watcher: FSWatcher }>()
  let paths = new Set<BytePath>()
  let replaced = new Set<BytePath>()
  /** Folders whose watch may be that of one that is gone: they must be watched anew. */
  const stale = new Set<BytePath>()
  let isReliable = false // what happened before the first exact scan is unknown
  let isBlind = false
  let burst = 0
  let isCounting = false
  let root = lookAtDisk(files.root)
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
    if (watched.get(folder)?.inode === inode && !stale.has(folder)) return
    stop(folder)
    try {
      const watcher = watch(files.resolve(folder), { encoding: "latin1", persistent: false }, (kind, name) => {
        count()
        if (name === null) isReliable = false
        else note(joinPath(folder, name as string), kind === "rename")
      })
      watcher.on("error", () => {
        isReliable = false
        stop(folder)
      })
      watched.set(folder, { inode, watcher })
    } catch (error) {
      // A folder that just went is its parent's news, and so is one that may not be read, by us or by a snapshot;
      // anything else means that we can't watch all of them.
      if (!["ENOENT", "ENOTDIR", "EACCES"].includes((error as NodeJS.ErrnoException).code as string)) isBlind = true
    }
  }

  function note(path: BytePath, isReplaced: boolean): void {
    paths.add(path)
    if (!isReplaced) return
    replaced.add(path)
    if (watched.has(path)) stale.add(path)
  }

  function stop(folder: BytePath): void {
    watched.get(folder)?.watcher.close()
    watched.delete(folder)
    stale.delete(folder)
  }

  /** Nobody tells that the workspace itself was replaced. */
  function noticeNewRoot(): void {
    const now = lookAtDisk(files.root)
    if (now?.ino === root?.ino && now?.birthtimeMs === root?.birthtimeMs) return
    root = now
    isReliable = false
    for (const folder of watched.keys()) stale.add(folder)
  }

  const bell = createBell(cookies)

  return {
    follow,
    forget(folder) {
      if (!watched.has(folder)) return
      for (const inner of [...watched.keys()]) if (isInside(inner, folder)) stop(inner)
    },
    async take() {
      if (!(await bell.ring())) isReliable = false
      noticeNewRoot()
      const taken = { paths, replaced, isReliable: isReliable && !isBlind }
      paths = new Set()
      replaced = new Set()
      isReliable = true
      return taken
    },
    close() {
      bell.close()
      for (const { watcher } of watched.values()) watcher.close()
      watched.clear()
    },
  }
}

interface Bell {
  /** True when everything that happened before has been heard of, false when that takes too long to tell. */
  ring(): Promise<boolean>
  close(): void
}

/** A file of our own: writing to it is one event, which arrives after all earlier ones and makes no name in any folder. */
function createBell(folder: string): Bell {
  let file: { readonly descriptor: number; readonly watcher: FSWatcher } | undefined
  let onEvent = (_heard: boolean) => {}

  function open() {
    const path = join(folder, `${process.pid}-${randomHex(6)}`)
    const descriptor = openSync(path, "wx")
    removeFile(path) // open it stays what it is, and nobody finds it when we are killed
    try {
      const watcher = watch(`/proc/self/fd/${descriptor}`, { persistent: false }, () => onEvent(true))
      watcher.on("error", () => onEvent(false))
      return { descriptor, watcher }
    } catch (error) {
      closeSync(descriptor)
      throw error
    }
  }

  function close(): void {
    if (file === undefined) return
    file.watcher.close()
    closeSync(file.descriptor)
    file = undefined
  }

  return {
    async ring() {
      file ??= open()
      const { descriptor } = file
      const isHeard = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), bellMs)
        onEvent = (heard) => {
          clearTimeout(timer)
          resolve(heard)
        }
        writeSync(descriptor, "x", 0)
      })
      onEvent = () => {}
      if (!isHeard) close() // its event may still come, and would be taken for that of the next time
      return isHeard
    },
    close,
  }
}

function readQueueLimit(): number {
  try {
    return Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "latin1")) || 16_384
  } catch {
    return 16_384
  }
}
