/** What the file tools do to files; replaceable, so that they can work on something else. Paths are absolute and real. */
import { randomUUID } from "node:crypto"
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"

export interface FileOperations {
  /** The bytes, or `undefined` if there is no file. Rejects for a folder and what can't be read. */
  read(path: string): Promise<Buffer | undefined>
  /**
   * Puts new content on disk beside a file, folders included; `commit` makes it the file in one step, `discard` takes it
   * away.
   */
  prepare(path: string, content: Uint8Array): Promise<PreparedWrite>
  /** Takes a file away. */
  remove(path: string): Promise<void>
}

export interface PreparedWrite {
  commit(): Promise<void>
  discard(): Promise<void>
}

/** Files on this machine: written beside, synced, renamed, so that a crash leaves the old file or the new one. */
export const diskFiles: FileOperations = {
  async read(path) {
    try {
      return await readFile(path)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  },
  async prepare(path, content) {
    const folder = dirname(path)
    await mkdir(folder, { recursive: true })
    await removeLeftovers(folder)
    const mark = `${process.pid}-${randomUUID().slice(0, 8)}`
    const beside = join(folder, `.${basename(path).slice(0, 60)}.${mark}.keepup-tmp`)
    const discard = async (): Promise<void> => await rm(beside, { force: true })
    try {
      const file = await open(beside, "wx")
      try {
        await file.writeFile(content)
        await file.sync()
      } finally {
        await file.close()
      }
      const mode = await readMode(path)
      if (mode !== undefined) await chmod(beside, mode)
    } catch (error) {
      await discard()
      throw error
    }
    const commit = async (): Promise<void> => {
      await rename(beside, path)
      await syncFolder(folder)
    }
    return { commit, discard }
  },
  remove: async (path) => await rm(path, { force: true }),
}

const leftover = /\.(\d+)-[0-9a-f]{8}\.keepup-tmp$/

/** Takes away what a process that died in the middle of a write left in this folder. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = Number(leftover.exec(name)?.[1] ?? 0)
    if (pid > 0 && !isAlive(pid)) await rm(join(folder, name), { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"
  }
}

/** So that the new name survives a power cut too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function readMode(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mode & 0o7777
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === "ENOENT" || code === "ENOTDIR"
}
