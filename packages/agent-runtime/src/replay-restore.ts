/** What a restore did to the files, done again in the scratch copy of a replay: no call of the record stands for it. */
import { chmod, mkdir, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Checkpoint, CheckpointId, EventData } from "@ku0/agent-runtime-core"
import { listCheckpointFiles, readCheckpointFile, type SnapshotFile } from "@ku0/agent-runtime-persistence"
import type { Runtime } from "./open-runtime.js"

/**
 * False when it can't be done: a checkpoint it needs holds no files or is gone, or something is in the way. A restore of
 * both leads to files that the history leads to as well.
 */
export async function replayRestore(
  runtime: Runtime,
  scratch: string,
  { restoreId, checkpointId, safetyCheckpointId, mode }: EventData<"checkpoint:restored">,
): Promise<boolean> {
  if (mode === "both") return true
  const find = async (id: string | null) => (id === null ? undefined : await findWithFiles(runtime, id))
  const [target, safety] = [await find(checkpointId), await find(safetyCheckpointId)]
  if (target === undefined || safety === undefined) return false
  // the conversation alone went back: the files stayed what they had become
  const [before, after] = mode === "files" ? [safety, target] : [target, safety]
  const [old, wanted] = [await filesOf(runtime, before), await filesOf(runtime, after)]
  const isNamed = await namedPaths(runtime, restoreId)
  const isSame = (path: string) =>
    old.get(path)?.id === wanted.get(path)?.id && old.get(path)?.mode === wanted.get(path)?.mode
  const changed = [...new Set([...old.keys(), ...wanted.keys()])].filter((path) => isNamed(path) && !isSame(path))
  for (const path of changed) {
    if (!(await isWithin(scratch, path))) return false
    await rm(join(scratch, path), { force: true, recursive: true })
  }
  for (const path of changed) {
    const file = wanted.get(path)
    if (file === undefined) continue
    if (!(await isWithin(scratch, path))) return false
    await write(join(scratch, path), file, await readCheckpointFile(runtime, after, path))
  }
  return true
}

async function write(path: string, { mode }: SnapshotFile, data: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  if (mode === "120000") {
    await symlink(data, path)
    return
  }
  await writeFile(path, data)
  await chmod(path, mode === "100755" ? 0o755 : 0o644)
}

async function findWithFiles({ store }: Runtime, id: string): Promise<Checkpoint | undefined> {
  const found = await store.checkpoints.find(id as CheckpointId)
  return found?.snapshot == null ? undefined : found
}

async function filesOf(runtime: Runtime, checkpoint: Checkpoint): Promise<Map<string, SnapshotFile>> {
  return new Map((await listCheckpointFiles(runtime, checkpoint)).map((file) => [file.path, file]))
}

/** The paths a restore was about, and those in them; all of them unless it named some. */
async function namedPaths({ store }: Runtime, restoreId: string): Promise<(path: string) => boolean> {
  const row = await store.context.driver.get("SELECT paths FROM restores WHERE id = ?", [restoreId])
  const paths = typeof row?.["paths"] === "string" ? (JSON.parse(row["paths"]) as string[]) : undefined
  if (paths === undefined) return () => true
  return (path) => paths.some((one) => one === "." || path === one || path.startsWith(`${one}/`))
}

/** A folder that a command of the replay made a link must not lead out of the copy. */
async function isWithin(scratch: string, path: string): Promise<boolean> {
  for (let folder = dirname(join(scratch, path)); ; folder = dirname(folder)) {
    const real = await realpath(folder).catch(() => undefined) // not there: it will be made
    if (real !== undefined) return real === folder
  }
}
