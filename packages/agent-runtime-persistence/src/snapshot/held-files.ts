/**
 * Files that are replaced or removed are kept open until the work is done. A disk takes far longer to free what a file
 * took than to change its name, and nobody needs to wait for that.
 */
import { close, constants, openSync, rename, renameSync, unlink, unlinkSync } from "node:fs"
import { promisify } from "node:util"

export interface HeldFiles {
  /** Call right before the file or folder goes. What can't be opened is freed at once. */
  hold(path: string | Buffer): void
  /** Frees all of them soon, beside the main thread; nobody has to wait for it. Safe to call twice. */
  letGo(): void
}

/** Every one needs a descriptor, and of those there are not many. */
const mostHeld = 256

export function createHeldFiles(): HeldFiles {
  let descriptors: number[] = []
  return {
    hold(path) {
      if (descriptors.length >= mostHeld) return
      try {
        // Not blocking, and not through a link: whatever took the file's place must not hold us.
        descriptors.push(openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK))
      } catch {
        // It is not there, or not ours to read.
      }
    },
    letGo() {
      const last = descriptors
      descriptors = []
      setImmediate(() => {
        for (const descriptor of last) close(descriptor, () => {})
      })
    },
  }
}

/** For more files than this the disk is kept busy beside the main thread instead. */
export function canHold(files: number): boolean {
  return files <= mostHeld
}

/** How names change: both take long where they free the disk of what a file took. */
export interface NameChange {
  move(from: string | Buffer, to: string | Buffer): void | Promise<void>
  remove(path: string | Buffer): void | Promise<void>
}

export const changeBeside: NameChange = { move: promisify(rename), remove: promisify(unlink) }

export function changeHeld(held: HeldFiles): NameChange {
  return {
    move(from, to) {
      held.hold(to)
      renameSync(from, to)
    },
    remove(path) {
      held.hold(path)
      unlinkSync(path)
    },
  }
}
