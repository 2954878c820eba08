/**
 * Keeps the store small: packs of single snapshots become few packs, borrowed objects become the store's own, and what
 * no ref reaches goes. New packs are durable before old ones are removed, so a crash at any point loses nothing, and
 * the slow part runs without the lock.
 */
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { mostPlain } from "./capture.js"
import { removeFile, syncFolder } from "./durable-file.js"
import { isPlainPack } from "./plain-objects.js"
import { checkpointRefs } from "./refs.js"
import { loadScanState, saveScanState } from "./scan-state.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import type { StoreLock } from "./store-lock.js"
import type { StoreSession } from "./store-session.js"

interface Pack {
  readonly name: string
  readonly size: number
}

/** What collecting garbage came to. `bytes`: of the store's packs, as files on the disk. */
export interface SweptSnapshots {
  /** Checkpoints whose snapshots were let go. */
  readonly dropped: number
  readonly bytesBefore: number
  readonly bytesAfter: number
}

/**
 * A pack is left alone while it is so many times larger than all smaller ones together. What is in several packs is there
 * whole in each, so the more often a pack is written anew, the smaller the store; a large one takes its time.
 */
const growthOf = (size: number) => (size < 32 << 20 ? 16 : 4)
const staleTemporaryMs = 60 * 60_000

export function countPacks({ packFolder }: SnapshotEnvironment): number {
  return readdirSync(packFolder).filter((name) => name.endsWith(".idx")).length
}

/** Bytes of all packs with their indexes, and of what was to become one. */
export function measurePacks({ packFolder }: SnapshotEnvironment): number {
  const sizes = readdirSync(packFolder).map((name) => statSync(join(packFolder, name), { throwIfNoEntry: false })?.size)
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
}

/** Merges small packs so that sizes grow geometrically; with `everything`, all loose refs go into one file too. */
export async function consolidatePacks(
  environment: SnapshotEnvironment,
  lock: StoreLock,
  options: { readonly everything?: boolean } = {},
): Promise<void> {
  const { step, refs } = environment
  await compressPacks(environment, lock).catch(() => {}) // one that is damaged is merged as it is, and stays that
  const merge = choosePacks(listPacks(environment))
  if (merge.length > 1) await mergePacks(environment, lock, merge)
  await lock.hold(async () => {
    step("consolidate:refs")
    refs.pack()
    if (options.everything === true) removeRubbish(environment)
  })
  step("consolidate:done")
}

/**
 * What changed is not compressed when a snapshot is taken, and whoever packs its objects anew takes them as they are. In
 * a pack that is much larger than what may stay so, the rest is compressed.
 */
async function compressPacks(environment: SnapshotEnvironment, lock: StoreLock): Promise<void> {
  const { packFolder } = environment
  const plain = listPacks(environment).filter(
    ({ name, size }) => size < 2 * mostPlain && isPlainPack(join(packFolder, `${name}.pack`)),
  )
  if (plain.length > 0) await mergePacks(environment, lock, plain, "--no-reuse-object")
}

async function mergePacks(
  environment: SnapshotEnvironment,
  lock: StoreLock,
  packs: readonly Pack[],
  ...how: readonly string[]
): Promise<void> {
  environment.step("consolidate:write")
  const names = packs.map(({ name }) => `${name}.pack`)
  // One thread: someone may be waiting for a snapshot meanwhile, nobody for this.
  const made = await packObjects(environment, ["--stdin-packs", "--threads=1", ...how], toLines(names))
  environment.step("consolidate:made")
  await lock.hold(async () => removePacks(environment, packs, made))
}

/** Copies what the snapshots need out of the user's repository and stops borrowing. */
export async function ownObjects(environment: SnapshotEnvironment, lock: StoreLock): Promise<void> {
  const alternates = join(environment.store, "objects/info/alternates")
  if (!existsSync(alternates)) return
  environment.step("own:write")
  // Snapshots taken meanwhile write what is new themselves; the rest is reachable from the refs of this moment.
  const roots = await lock.hold(async () => listRoots(environment))
  await packObjects(environment, ["--revs"], toLines(roots))
  environment.step("own:made")
  await lock.hold(async () => {
    removeFile(alternates)
    syncFolder(join(environment.store, "objects/info"))
    environment.reader.renew()
  })
  environment.step("own:done")
}

/**
 * Keeps the listed checkpoints, the newest snapshot and what the next one builds on. A checkpoint made within the last
 * hour stays too: its snapshot is there before the record that would list it. Returns how many checkpoints were dropped.
 */
export async function collectGarbage(session: StoreSession, keep: ReadonlySet<string>): Promise<number> {
  const { environment, lock } = session
  const { refs, step } = environment
  await compressPacks(environment, lock).catch(() => {}) // what is damaged may be what goes
  const { old, dropped } = await lock.hold(async () => {
    session.saveLocked()
    session.forget()
    const now = environment.clock.now()
    const drop = [...refs.list(checkpointRefs).keys()].filter((name) => {
      const id = name.slice(checkpointRefs.length)
      return !keep.has(id) && !isYoung(id, now)
    })
    refs.remove(drop)
    // Other processes must not build on what they remember: a new state file tells them.
    const state = loadScanState(environment.store)
    if (state !== undefined) saveScanState(environment.store, state)
    step("gc:refs")
    return { old: listPacks(environment), dropped: drop.length }
  })
  step("gc:write")
  const roots = await lock.hold(async () => listRoots(environment))
  const made = await packObjects(environment, ["--revs"], toLines(roots))
  step("gc:made")
  await lock.hold(async () => {
    // A snapshot taken meanwhile does not write again what a pack had that is about to go.
    const since = listRoots(environment).filter((id) => !roots.includes(id))
    const exceptOld = roots.map((id) => `^${id}`)
    const more =
      since.length > 0 ? await packObjects(environment, ["--revs"], toLines([...since, ...exceptOld])) : undefined
    removePacks(environment, old, made, more)
    refs.pack()
    removeRubbish(environment)
    environment.reader.renew()
  })
  step("gc:done")
  return dropped
}

/** By the time in a UUIDv7; other ids do not tell. */
function isYoung(id: string, now: number): boolean {
  const time = /([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.exec(id)
  return time !== null && now - Number.parseInt(`${time[1]}${time[2]}`, 16) < staleTemporaryMs
}

/** The caller holds the lock. */
function listRoots(environment: SnapshotEnvironment): string[] {
  const state = loadScanState(environment.store)
  const ids = new Set(environment.refs.list().values())
  for (const id of [state?.lastCommit, state?.lastTree, state?.indexTree]) if (id) ids.add(id)
  return [...ids]
}

const toLines = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("")

/** Returns the name of the durable new pack, or undefined when there was nothing to pack. */
async function packObjects(
  environment: SnapshotEnvironment,
  args: string[],
  input: string,
): Promise<string | undefined> {
  const target = join(environment.packFolder, "pack")
  const { stdout } = await environment.git.run(
    ["pack-objects", ...args, "--delta-base-offset", "--non-empty", "-q", target],
    { input },
  )
  const hash = stdout.toString("latin1").trim()
  if (hash === "") return undefined
  for (const extension of ["pack", "idx"]) {
    const descriptor = openSync(`${target}-${hash}.${extension}`, "r")
    fsyncSync(descriptor)
    closeSync(descriptor)
  }
  syncFolder(environment.packFolder)
  return `pack-${hash}`
}

function listPacks({ packFolder }: SnapshotEnvironment): Pack[] {
  const names = readdirSync(packFolder).filter((name) => /^pack-[0-9a-f]{40}\.idx$/.test(name))
  return names.map((file) => {
    const name = file.slice(0, -4)
    return { name, size: statSync(join(packFolder, `${name}.pack`), { throwIfNoEntry: false })?.size ?? 0 }
  })
}

function choosePacks(packs: Pack[]): Pack[] {
  const sorted = packs.sort((a, b) => a.size - b.size)
  let total = 0
  let count = 0
  for (const [i, pack] of sorted.entries()) {
    if (pack.size < growthOf(pack.size) * total) count = i + 1
    total += pack.size
  }
  return sorted.slice(0, count)
}

/** The index goes first: without it git does not look for the pack. */
function removePacks(
  { packFolder }: SnapshotEnvironment,
  packs: readonly Pack[],
  ...except: readonly (string | undefined)[]
): void {
  for (const { name } of packs) {
    if (except.includes(name)) continue
    for (const extension of ["idx", "rev", "pack"]) removeFile(join(packFolder, `${name}.${extension}`))
  }
}

/** Files that a killed process left; old enough that nobody writes them any more. What can't be read or removed stays. */
export function removeRubbish(environment: SnapshotEnvironment): void {
  const before = Date.now() - staleTemporaryMs
  for (const folder of [environment.packFolder, environment.store]) {
    try {
      for (const name of readdirSync(folder)) {
        if (!/^tmp_|^tmp-ref-|\.tmp$/.test(name)) continue
        const path = join(folder, name)
        if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? before) < before) removeFile(path)
      }
    } catch {
      // It may belong to another user, or be damaged: the doctor names it, and it is no reason to take no snapshot.
    }
  }
}
