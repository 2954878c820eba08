/** Changes several files as one: all of them, or none. */

import { hashContent } from "../context/content-hash.js"
import { guardEdit, staleError } from "../context/guard-edit.js"
import { diskFiles, type FileOperations, type PreparedWrite } from "./file-operations.js"
import type { FileToolOptions } from "./tool-options.js"

export interface FileWrite {
  /** Absolute and real. */
  readonly path: string
  /** From the workspace, for people. */
  readonly name: string
  /** What the change was made from; `undefined` if there was no file. */
  readonly before: Buffer | undefined
  readonly after: Buffer
}

/**
 * Puts all new contents on disk beside the files, makes sure that nobody changed a file meanwhile, then swaps them in. If
 * a swap fails, those done before it are taken back.
 */
export async function commitFiles(writes: readonly FileWrite[], options: FileToolOptions): Promise<void> {
  const { files = diskFiles, context } = options
  guardEdit(
    context,
    writes.map(({ path }) => path),
  )
  const prepared: PreparedWrite[] = []
  const done: FileWrite[] = []
  try {
    for (const { path, after } of writes) prepared.push(await files.prepare(path, after))
    guardEdit(
      context,
      writes.map(({ path }) => path),
    )
    await requireUnchanged(files, writes)
    for (const [index, write] of writes.entries()) {
      context?.beginWrite(write.path, write.after)
      done.push(write)
      await prepared[index]?.commit()
    }
  } catch (error) {
    for (const one of prepared) await one.discard()
    for (const write of done) {
      await takeBack(files, write)
      context?.cancelWrite(write.path)
    }
    throw error
  }
  for (const { path, after } of writes) context?.markWrite(path, after)
}

/** The change was made from what was there a moment ago: a file that is another one now, known or not, is stale too. */
async function requireUnchanged(files: FileOperations, writes: readonly FileWrite[]): Promise<void> {
  const changed: string[] = []
  for (const { path, name, before } of writes) {
    const now = await files.read(path)
    const isSame = now === undefined || before === undefined ? now === before : now.equals(before)
    if (!isSame) changed.push(name)
  }
  if (changed.length > 0) throw staleError(changed)
}

/** The one whose swap failed still has its old content: nothing to do for it. */
async function takeBack(files: FileOperations, { path, before, after }: FileWrite): Promise<void> {
  const now = await files.read(path)
  if (now === undefined || hashContent(now) !== hashContent(after)) return
  if (before === undefined) await files.remove(path)
  else await (await files.prepare(path, before)).commit()
}
