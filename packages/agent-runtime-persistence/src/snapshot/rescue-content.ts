/** Finds content a damaged store lost: whole objects in damaged packs, the user's repository, any file of the workspace. */
import { lstatSync, readdirSync, readFileSync, renameSync } from "node:fs"
import { join } from "node:path"
import { isKeepupError, KeepupError } from "@ku0/agent-runtime-core"
import type { Answer } from "./batch-process.js"
import { type BytePath, joinPath } from "./byte-path.js"
import { removeFile, syncFolder } from "./durable-file.js"
import { objectId } from "./git-objects.js"
import type { ObjectReader } from "./object-reader.js"
import type { PackWriter } from "./pack-writer.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"

const anyExit = Array.from({ length: 255 }, (_, i) => i + 1)

/** An object whose bytes are what its id says, or undefined. Of several copies git takes one it can read. */
export async function findSound(reader: ObjectReader, id: string): Promise<Answer | undefined> {
  try {
    const found = await reader.find(id)
    return found !== undefined && objectId(found.type, found.data) === id ? found : undefined
  } catch (error) {
    if (isKeepupError(error) && error.code === "UNAVAILABLE") return undefined // git ends where it can't read on
    throw error
  }
}

/**
 * Copies every whole object of the damaged packs into the new one, and indexes packs that lost their index. The result
 * sets the damaged packs aside under a name git does not read: call it when the new pack is durable.
 */
export async function rescuePacks(environment: SnapshotEnvironment, pack: PackWriter): Promise<() => void> {
  const { packFolder, git, reader } = environment
  const names = readdirSync(packFolder).filter((name) => /^pack-[0-9a-f]{40}\.pack$/.test(name))
  const damaged: string[] = []
  await requireGit(git)
  for (const name of names) {
    const index = join(packFolder, name.replace(/pack$/, "idx"))
    if (lstatSync(index, { throwIfNoEntry: false })?.isDirectory()) renameSync(index, `${index}.damaged-${Date.now()}`)
    if ((await git.run(["verify-pack", index], { accept: anyExit })).exitCode === 0) continue
    // An index can be made again; if the pack itself is damaged this fails, and changes nothing.
    const fresh = join(packFolder, `tmp_${name.slice(0, -5)}.idx`)
    const args = ["-c", "pack.writeReverseIndex=false", "index-pack", "-o", fresh, join(packFolder, name)]
    removeFile(fresh)
    if ((await git.run(args, { accept: anyExit })).exitCode === 0) renameSync(fresh, index)
    else damaged.push(name)
  }
  if (damaged.length > 0) await requireGit(git)
  reader.renew()
  for (const name of damaged) {
    for (const id of await listIds(environment, name)) {
      const found = await findSound(reader, id)
      if (found !== undefined) pack.add(id, found.type, found.data)
    }
  }
  return () => {
    for (const name of damaged) {
      for (const extension of ["idx", "rev"]) removeFile(join(packFolder, name.replace(/pack$/, extension)))
      renameSync(join(packFolder, name), join(packFolder, `damaged-${name}`))
    }
    syncFolder(packFolder)
    reader.renew()
  }
}

/** Where git itself can't work, what it says of a pack proves nothing. */
async function requireGit(git: SnapshotEnvironment["git"]): Promise<void> {
  if ((await git.run(["rev-parse", "--git-dir"], { accept: anyExit })).exitCode === 0) return
  throw new KeepupError("UNAVAILABLE", "git can't work in the snapshot store; nothing was mended.", {
    hint: "Run `git rev-parse` in its folder to see why.",
  })
}

async function listIds({ packFolder, git }: SnapshotEnvironment, pack: string): Promise<string[]> {
  const input = readIfThere(join(packFolder, pack.replace(/pack$/, "idx")))
  if (input === undefined) return []
  const { stdout } = await git.run(["show-index"], { input, accept: anyExit })
  return stdout.toString("latin1").match(/\b[0-9a-f]{40}\b/g) ?? []
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

/** Content by id, proven. Under the paths that had it first; then in the user's repository; then in every file. */
export async function findLostContent(
  { files, git, repository }: SnapshotEnvironment,
  lost: ReadonlyMap<string, ReadonlySet<BytePath>>,
): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>()
  files.refresh()

  function tryFile(path: BytePath): void {
    const content = files.read(path)
    if (content.kind !== "content") return
    const id = objectId("blob", content.data)
    if (lost.has(id) && !found.has(id)) found.set(id, Buffer.from(content.data))
  }

  for (const paths of lost.values()) for (const path of paths) tryFile(path)
  for (const id of lost.keys()) {
    if (repository === undefined || found.has(id)) continue
    const read = { gitDirectory: repository.gitDirectory, accept: anyExit }
    const { stdout, exitCode } = await git.run(["cat-file", "blob", id], read)
    if (exitCode === 0 && objectId("blob", stdout) === id) found.set(id, stdout)
  }
  const folders: BytePath[] = [""]
  for (let folder = folders.pop(); folder !== undefined && found.size < lost.size; folder = folders.pop()) {
    for (const entry of files.list(folder) ?? []) {
      const path = joinPath(folder, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else tryFile(path)
    }
  }
  return found
}
