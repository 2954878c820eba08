/**
 * Removes content nobody needs. Content that is put again while a sweep runs survives: a file is first moved aside,
 * which is atomic, and looked at there; if it was made young in between, it goes back. A sweep that was killed in
 * between is finished by the next one, and until then the content is still readable.
 */
import { link, readdir, rename, unlink } from "node:fs/promises"
import { join } from "node:path"
import { type Clock, KeepupError, toKeepupError } from "@ku0/agent-runtime-core"
import { findAsideHash, findHash, listShards, look, makeAside, placeOf } from "./content-place.js"
import { findErrorCode, fromFileError } from "./file-error.js"
import { isTemporaryName } from "./write-file-atomic.js"

export interface SweepContentOptions {
  readonly folder: string
  readonly clock: Clock
  readonly isReachable: (hash: string) => boolean | Promise<boolean>
  readonly olderThanMs: number
}

export interface SweepContentResult {
  readonly removed: number
  readonly freedBytes: number
  readonly kept: number
  /** Files that writes cut short by a crash left behind. */
  readonly temporaryRemoved: number
  /** What should have gone and could not. */
  readonly failed: readonly { readonly name: string; readonly error: KeepupError }[]
}

/** A sweep that is alive has a file aside for a moment only. */
const asideForMs = 60_000
/** A write that is alive does not take longer, however slow the disk. */
const writeForMs = 3_600_000

export async function sweepContent(options: SweepContentOptions): Promise<SweepContentResult> {
  const { folder, clock, isReachable, olderThanMs } = options
  if (!(olderThanMs >= 0)) throw new KeepupError("INVALID_INPUT", `Not an age: ${olderThanMs}.`)
  const now = clock.now()
  const isYoung = (facts: { mtimeMs: number }) => now - facts.mtimeMs <= olderThanMs
  const result = {
    removed: 0,
    freedBytes: 0,
    kept: 0,
    temporaryRemoved: 0,
    failed: [] as { name: string; error: KeepupError }[],
  }

  for (const shard of await listShards(folder)) {
    for (const name of await readdir(join(folder, shard))) {
      const hash = findAsideHash(shard, name)
      if (hash !== undefined) await attempt(name, () => finishAside(join(folder, shard, name), hash))
    }
    for (const name of (await readdir(join(folder, shard))).sort()) {
      const hash = findHash(shard, name)
      if (hash !== undefined) await sweepOne(hash)
      else if (isTemporaryName(name)) await attempt(name, () => sweepTemporary(join(folder, shard, name)))
    }
  }
  return result

  async function sweepOne(hash: string): Promise<void> {
    const facts = await look(placeOf(folder, hash).path)
    if (facts?.isFile() !== true) return
    if (isYoung(facts) || (await isReachable(hash))) result.kept++
    else await attempt(hash, () => removeUnlessFreshened(hash))
  }

  async function removeUnlessFreshened(hash: string): Promise<void> {
    const { path } = placeOf(folder, hash)
    const aside = makeAside(folder, hash)
    if (!(await ifThere(rename(path, aside)))) return
    const moved = await look(aside)
    if (moved === undefined) return
    if (isYoung(moved)) {
      await putBack(aside, path)
      result.kept++
    } else if (await ifThere(unlink(aside))) {
      result.removed++
      result.freedBytes += moved.size
    }
  }

  /** A killed sweep left it: it goes back under its name, where it is judged like any other. */
  async function finishAside(aside: string, hash: string): Promise<void> {
    const facts = await look(aside)
    if (facts?.isFile() === true && now - facts.ctimeMs > asideForMs) await putBack(aside, placeOf(folder, hash).path)
  }

  async function sweepTemporary(path: string): Promise<void> {
    const facts = await look(path)
    if (facts?.isFile() !== true || isYoung(facts) || now - facts.mtimeMs <= writeForMs) return
    if (await ifThere(unlink(path))) {
      result.temporaryRemoved++
      result.freedBytes += facts.size
    }
  }

  async function attempt(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      result.failed.push({ name, error: toKeepupError(fromFileError(error, `remove ${name} from ${folder}`)) })
    }
  }
}

/** Back under its name. If the content was put there again meanwhile, the younger of the two stays. */
async function putBack(aside: string, path: string): Promise<void> {
  try {
    await link(aside, path)
  } catch (error) {
    const [kept, there] = [await look(aside), await look(path)]
    if (kept === undefined) return
    if (findErrorCode(error) !== "EEXIST" || there === undefined || there.mtimeMs < kept.mtimeMs) {
      await ifThere(rename(aside, path))
      return
    }
  }
  await ifThere(unlink(aside))
}

/** False if another process was faster. */
async function ifThere(work: Promise<void>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (findErrorCode(error) === "ENOENT") return false
    throw error
  }
}
