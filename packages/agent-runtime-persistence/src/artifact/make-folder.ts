/** Folders that survive a power cut: each new one is on disk in its parent before anything is put into it. */
import { constants } from "node:fs"
import { mkdir, open } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { fromFileError } from "./file-error.js"

/** Makes a folder and those above it that are missing, mode 0700. One that is there already is left as it is. */
export async function makeFolder(path: string): Promise<void> {
  const folder = resolve(path)
  try {
    const first = await mkdir(folder, { recursive: true, mode: 0o700 })
    if (first === undefined) return
    for (let made = folder; ; made = dirname(made)) {
      await syncFolder(dirname(made))
      if (made === resolve(first) || made === dirname(made)) return
    }
  } catch (error) {
    throw fromFileError(error, `make the folder ${folder}`)
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
