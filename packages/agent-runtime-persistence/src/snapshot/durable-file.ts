/** Files that are whole and on disk, or not there: temporary name, fsync, rename, fsync of the folder. */
import {
  closeSync,
  constants,
  fsync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs"
import { dirname } from "node:path"
import { randomHex } from "../store/lazy-crypto.js"

/** Replaces a file in one step. Without `durable` a power cut may bring the old content back, never a torn one. */
export function replaceFile(
  path: string,
  content: Buffer | string,
  options: { durable: boolean; mode?: number },
): void {
  const temporary = `${path}.${randomHex(6)}.tmp`
  try {
    writeNewFile(temporary, content, options)
    renameSync(temporary, path)
  } catch (error) {
    removeFile(temporary)
    throw error
  }
  if (options.durable) syncFolder(dirname(path))
}

/**
 * Replaces a file that may as well be missing, and whose reader notices when it is torn. The old one goes first: a disk
 * writes out at once what is renamed over another file.
 */
export function replaceCache(path: string, content: Buffer | string, options: { mode?: number } = {}): void {
  const temporary = `${path}.${randomHex(6)}.tmp`
  try {
    writeNewFile(temporary, content, { durable: false, ...options })
    removeFile(path)
    renameSync(temporary, path)
  } catch (error) {
    removeFile(temporary)
    throw error
  }
}

/**
 * Writes over a file that may as well be missing, and whose reader notices when it is torn. No name changes, and nothing
 * on the disk is freed, which would take longer than all the rest.
 */
export function overwriteCache(path: string, content: Buffer): void {
  const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o644)
  try {
    for (let at = 0; at < content.length; ) at += writeSync(descriptor, content, at, content.length - at, at)
    ftruncateSync(descriptor, content.length)
  } finally {
    closeSync(descriptor)
  }
}

/** Writes a file that must not exist yet. The caller makes its name durable. */
export function writeNewFile(
  path: string,
  content: Buffer | string,
  options: { durable: boolean; mode?: number },
): void {
  const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content
  const descriptor = openSync(path, "wx", options.mode ?? 0o644)
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
    if (options.durable) fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Makes names in a folder durable. Not every system lets a folder be opened; there it is the best one can do. */
export function syncFolder(path: string | Buffer): void {
  if (process.platform === "win32") return
  const descriptor = openSync(path, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Removes a file if it is there. */
export function removeFile(path: string | Buffer): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
  }
}

/** Makes a folder and the folders above it, durable from the first new one on. */
export function makeFolder(path: string, mode?: number): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return // a look takes less than trying to make it
  const first = mkdirSync(path, { recursive: true, ...(mode === undefined ? {} : { mode }) })
  if (first !== undefined) syncFolder(dirname(first))
}

/** Makes files and folders durable together: the disk needs one turn for all of them. */
export async function syncAll(paths: readonly (string | Buffer)[]): Promise<void> {
  const results = await Promise.allSettled(paths.map(syncOne))
  for (const result of results) if (result.status === "rejected") throw result.reason
}

/** Opening is quick and done here; waiting for the disk is not. */
async function syncOne(path: string | Buffer): Promise<void> {
  const descriptor = openSync(path, "r")
  try {
    await new Promise<void>((resolve, reject) => {
      fsync(descriptor, (error) => (error === null ? resolve() : reject(error)))
    })
  } finally {
    closeSync(descriptor)
  }
}
