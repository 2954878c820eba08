/** Proves a store sound, names what is damaged, and puts back what is still somewhere: in a pack or in the workspace. */
import { join } from "node:path"
import { type BytePath, displayPath } from "./byte-path.js"
import { removeFile } from "./durable-file.js"
import { mendRefs } from "./mend-refs.js"
import { createPackWriter } from "./pack-writer.js"
import { checkpointRefs, indexTreeRef } from "./refs.js"
import { findLostContent, findSound, rescuePacks } from "./rescue-content.js"
import { readSnapshotCommit } from "./snapshot-commit.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import type { StoreSession } from "./store-session.js"
import { listTree } from "./trees.js"

export interface DamagedCheckpoint {
  readonly checkpoint: string
  readonly commit: string
  /** Files whose content is lost, or "." when the snapshot itself is. */
  readonly paths: readonly string[]
}

export interface StoreReport {
  readonly isSound: boolean
  readonly damaged: readonly DamagedCheckpoint[]
  /** What git says of objects that are damaged, one line each. */
  readonly problems: readonly string[]
  /** Files whose content was put back. */
  readonly repaired: readonly string[]
  /** Refs that were made again. */
  readonly mendedRefs: readonly string[]
}

/** Reads every object once. */
export async function checkStore(environment: SnapshotEnvironment): Promise<StoreReport> {
  const problems = await listProblems(environment)
  const { damaged } = await findDamage(environment, problems.length > 0)
  return { isSound: damaged.length === 0 && problems.length === 0, damaged, problems, repaired: [], mendedRefs: [] }
}

/** Newer gits find fault with attributes they would not read; older ones do not know that name, so no setting helps. */
const harmless = /^(error|warning) in blob [0-9a-f]+: gitattributes/

async function listProblems(environment: SnapshotEnvironment): Promise<string[]> {
  const { stdout, stderr, exitCode } = await environment.git.run(["fsck", "--full", "--no-dangling", "--no-progress"], {
    accept: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 128],
  })
  const said = (text: string) => text.split("\n").filter((line) => line !== "" && !line.startsWith("notice:"))
  const lines = said(stdout.toString("utf8"))
  if (exitCode === 0 || lines.length > 0) return lines.filter((line) => !/^(warning|dangling)/.test(line))
  const complaints = said(stderr)
  if (complaints.length === 0) return [`git fsck ended with ${exitCode}`]
  return complaints.every((line) => harmless.test(line)) ? [] : complaints // of refs it tells here
}

/** Where git found something wrong, each content is read and proven; otherwise it is enough that it is there. */
async function findDamage(environment: SnapshotEnvironment, isSuspect: boolean) {
  const { refs, reader } = environment
  reader.renew()
  const damaged: DamagedCheckpoint[] = []
  const lost = new Map<string, Set<BytePath>>()
  const health = new Map<string, boolean>()
  for (const [name, commit] of refs.list()) {
    if (name === indexTreeRef) continue
    const checkpoint = name.startsWith(checkpointRefs) ? name.slice(checkpointRefs.length) : name
    try {
      const files = [...(await listTree(reader, (await readSnapshotCommit(environment, commit)).tree))]
      await lookAt(
        environment,
        files.map(([, entry]) => entry.id),
        health,
        isSuspect,
      )
      const missing = files.filter(([, entry]) => health.get(entry.id) === false)
      for (const [path, entry] of missing) lost.set(entry.id, (lost.get(entry.id) ?? new Set()).add(path))
      if (missing.length > 0) damaged.push({ checkpoint, commit, paths: missing.map(([path]) => displayPath(path)) })
    } catch {
      reader.renew()
      damaged.push({ checkpoint, commit, paths: ["."] })
    }
  }
  return { damaged, lost }
}

async function lookAt(
  { reader }: SnapshotEnvironment,
  ids: string[],
  health: Map<string, boolean>,
  isSuspect: boolean,
): Promise<void> {
  const ask = [...new Set(ids)].filter((id) => !health.has(id))
  if (ask.length === 0) return
  if (isSuspect) for (const id of ask) health.set(id, (await findSound(reader, id))?.type === "blob")
  else {
    const found = await reader.describe(ask)
    for (const [i, id] of ask.entries()) health.set(id, found[i]?.type === "blob")
  }
}

/**
 * Looks for lost content in packs, in the user's repository and in the workspace, and builds lost trees anew. The
 * caller holds the lock.
 */
export async function repairStore(session: StoreSession): Promise<StoreReport> {
  const { environment } = session
  const pack = createPackWriter(environment.packFolder)
  const setAside = await rescuePacks(environment, pack)
  const { lost } = await findDamage(environment, true)
  const repaired: string[] = []
  for (const [id, content] of await findLostContent(environment, lost)) {
    pack.add(id, "blob", content)
    for (const path of lost.get(id) ?? []) repaired.push(displayPath(path))
  }
  await pack.finish()
  setAside()
  // The next snapshot looks at everything and writes all of it anew, trees included.
  removeFile(join(environment.store, "scan-state"))
  session.forget()
  environment.reader.renew()
  const mendedRefs = await mendRefs(environment)
  return { ...(await checkStore(environment)), repaired, mendedRefs }
}
