/**
 * The only way this package writes a file: a temporary name in the same folder, write, fsync, rename, fsync of the
 * folder. Whoever reads sees the old content or the new, never a part. A crash leaves a temporary file at most.
 */
import { randomBytes } from "node:crypto"
import { open, rename, unlink } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { fromFileError } from "./file-error.js"
import { makeFolder, syncFolder } from "./make-folder.js"

export type WriteStep = "created" | "written" | "synced" | "renamed" | "folder-synced"

export interface WriteFileAtomicOptions {
  /** 0600 unless told. */
  readonly mode?: number
  /** Called after every step, so that tests can end the process there. If it throws, the write fails at that step. */
  readonly onStep?: (step: WriteStep) => void
}

/**
 * When it returns, the content is on disk under its name; missing folders are made. A symbolic link at `path` is
 * replaced, not followed. When it throws before the rename, what was there is untouched and nothing is left behind.
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  options: WriteFileAtomicOptions = {},
): Promise<void> {
  const { mode = 0o600, onStep = () => undefined } = options
  const target = resolve(path)
  const folder = dirname(target)
  const temporary = join(folder, `.keepup-${randomBytes(8).toString("hex")}.tmp`)
  let isThere = false
  try {
    await makeFolder(folder)
    const file = await open(temporary, "wx", mode)
    isThere = true
    try {
      onStep("created")
      await file.writeFile(content)
      onStep("written")
      await file.sync()
      onStep("synced")
    } finally {
      await file.close()
    }
    await rename(temporary, target)
    isThere = false
    onStep("renamed")
    await syncFolder(folder)
    onStep("folder-synced")
  } catch (error) {
    // The first failure is the one to tell. A temporary file that can't be removed now is removed by a later sweep.
    if (isThere) await unlink(temporary).catch(() => undefined)
    throw fromFileError(error, `write ${target}`)
  }
}

/** Recognises the names `writeFileAtomic` uses before the rename. */
export function isTemporaryName(name: string): boolean {
  return /^\.keepup-[0-9a-f]{16}\.tmp$/.test(name)
}
