/** Folders that survive a power cut: each new one is on disk in its parent before anything is put into it. */
import { constants } from "node:fs"
import { mkdir, open, stat } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { findErrorCode, fromFileError } from "./file-error.js"

/** Makes a folder and those above it that are missing, mode 0700. One that is there already is left as it is. */
export async function makeFolder(path: string): Promise<void> {
  const folder = resolve(path)
  try {
    await makeMissing(folder)
  } catch (error) {
    throw fromFileError(error, `make the folder ${folder}`)
  }
}

/** One by one: Node's own `recursive` says "not found" where the disk is read-only. */
async function makeMissing(folder: string): Promise<void> {
  if (await isFolder(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) await makeMissing(parent)
  try {
    await mkdir(folder, 0o700)
  } catch (error) {
    if (findErrorCode(error) === "EEXIST" && (await isFolder(folder))) return // Another process was faster.
    throw error
  }
  await syncFolder(parent)
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if (findErrorCode(error) === "ENOENT") return false
    throw error
  }
}

/** Returns when the names in a folder are on disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
