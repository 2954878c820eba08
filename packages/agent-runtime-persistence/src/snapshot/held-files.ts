/**
 * Files that are replaced or removed are kept open until the work is done. A disk takes far longer to free what a file
 * took than to change its name, and nobody needs to wait for that.
 */
import { close, closeSync, constants, openSync, renameSync, unlinkSync } from "node:fs"

export interface HeldFiles {
  /** Call right before the file or folder goes. What can't be opened, or is one too many, is freed at once. */
  hold(path: string | Buffer): void
  /** Frees those that were held the longest: half when there is no room, or as many as leaves so few. Only then there is something to wait for. */
  makeRoom(most?: number): Promise<unknown> | undefined
  /** Frees all of them soon, beside the main thread; nobody has to wait for it. Safe to call twice. */
  letGo(): void
}

/** Every one needs a descriptor, and of those there are not many. */
const manyHeld = 64

/** Nothing was written through it: how that ends matters to nobody. */
const closeBeside = (descriptor: number) => new Promise<void>((done) => close(descriptor, () => done()))

export function createHeldFiles(): HeldFiles {
  let descriptors: number[] = []
  let mostHeld = manyHeld
  return {
    hold(path) {
      if (descriptors.length >= mostHeld) return
      try {
        // Not blocking, and not through a link: whatever took the file's place must not hold us.
        descriptors.push(openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK))
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code !== "EMFILE" && code !== "ENFILE") return // it is not there, or not ours to read
        mostHeld = descriptors.length >> 1 // the restore needs some itself
        for (const descriptor of descriptors.splice(mostHeld)) closeSync(descriptor)
      }
    },
    makeRoom(most) {
      if (descriptors.length <= (most ?? Math.max(mostHeld - 1, 0))) return undefined
      // many in one go: to wait for each takes longer than to free it
      return Promise.all(descriptors.splice(0, descriptors.length - (most ?? mostHeld >> 1)).map(closeBeside))
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

/** `rename` and `unlink` of files whose content is freed later. */
export function moveHeld(held: HeldFiles, from: string | Buffer, to: string | Buffer): void {
  held.hold(to)
  renameSync(from, to)
}

export function removeHeld(held: HeldFiles, path: string | Buffer): void {
  held.hold(path)
  unlinkSync(path)
}
