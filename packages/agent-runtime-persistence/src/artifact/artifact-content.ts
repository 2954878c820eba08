/**
 * Content on disk by its SHA-256: `FOLDER/ab/<hash>`. The same bytes are kept once; what `put` returned is on disk;
 * what `read` returns is what was put. Any number of processes may use one folder. Names that are not ours, symbolic
 * links and anything but plain files are never followed, counted or removed.
 */
import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { lutimes, open, readdir, unlink } from "node:fs/promises"
import { join } from "node:path"
import { type Clock, KeepupError } from "@ku0/agent-runtime-core"
import { findAsides, findHash, listShards, look, parseHash, placeOf } from "./content-place.js"
import { findErrorCode, fromFileError } from "./file-error.js"
import { makeFolder, syncFolder } from "./make-folder.js"
import { type SweepContentResult, sweepContent } from "./sweep-content.js"
import { type WriteStep, writeFileAtomic } from "./write-file-atomic.js"

export interface CreateArtifactContentOptions {
  /** Made when the first content comes. */
  readonly folder: string
  readonly clock: Clock
  /** Called after every step of a write, so that tests can end the process there. */
  readonly onStep?: (step: WriteStep) => void
}

export interface ContentFile {
  readonly hash: string
  readonly sizeBytes: number
  /** When it was last put. */
  readonly modifiedAt: number
}

export interface ArtifactContent {
  /** Keeps bytes, which must not change until it returns. Then they are on disk, and young again for `sweep`. */
  put(bytes: Uint8Array): Promise<{ hash: string; sizeBytes: number }>
  /** The bytes, proven to be the ones put. Missing is `NOT_FOUND`; changed is `CORRUPT` and names file and hash. */
  read(hash: string): Promise<Uint8Array>
  has(hash: string): Promise<boolean>
  /** Removes content whatever its age. Returns whether it was there. */
  delete(hash: string): Promise<boolean>
  /** Everything kept, by hash. */
  list(): AsyncIterable<ContentFile>
  /**
   * Removes what is not reachable and was last put more than `olderThanMs` ago, an hour unless told: whoever puts
   * content has that long to write down who needs it. If `isReachable` throws, the sweep ends and removes nothing more.
   */
  sweep(isReachable: (hash: string) => boolean | Promise<boolean>, olderThanMs?: number): Promise<SweepContentResult>
}

export function createArtifactContent(options: CreateArtifactContentOptions): ArtifactContent {
  const { folder, clock } = options
  const writeOptions = options.onStep === undefined ? {} : { onStep: options.onStep }
  const durableShards = new Set<string>()

  async function put(bytes: Uint8Array): Promise<{ hash: string; sizeBytes: number }> {
    const hash = hashOf(bytes)
    const { shard, path } = placeOf(folder, hash)
    await named(`keep content in ${shard}`, async () => {
      await makeShard(shard)
      if (await freshen(path, bytes, clock)) await syncFolder(shard)
      else await writeFileAtomic(path, bytes, writeOptions)
    })
    return { hash, sizeBytes: bytes.byteLength }
  }

  /** Another process may have made the folder a moment ago and not yet be sure of it: we make sure once. */
  async function makeShard(shard: string): Promise<void> {
    await makeFolder(shard)
    if (durableShards.has(shard)) return
    await refuseLink(shard)
    await syncFolder(folder)
    durableShards.add(shard)
  }

  async function read(hash: string): Promise<Uint8Array> {
    const { shard, path } = placeOf(folder, parseHash(hash))
    return named(`read ${path}`, async () => {
      await refuseLink(shard)
      const bytes = await whereverItIs(hash, readPlain)
      if (bytes === undefined) throw new KeepupError("NOT_FOUND", `There is no content ${hash} in ${folder}.`)
      if (hashOf(bytes) !== hash) throw corrupt(path, "has other content than its name says", hash)
      return bytes
    })
  }

  async function has(hash: string): Promise<boolean> {
    const { shard, path } = placeOf(folder, parseHash(hash))
    return named(`look for ${path}`, async () => {
      await refuseLink(shard)
      const isThere = async (place: string) => (await look(place))?.isFile() === true || undefined
      return (await whereverItIs(hash, isThere)) === true
    })
  }

  /** A sweep may have it aside for a moment, and put it back while we look there. */
  async function whereverItIs<Found>(hash: string, tryPlace: (path: string) => Promise<Found | undefined>) {
    const { path } = placeOf(folder, hash)
    for (let attempt = 0; attempt < 3; attempt++) {
      const found = await tryPlace(path)
      if (found !== undefined) return found
      for (const aside of await findAsides(folder, hash)) {
        const foundAside = await tryPlace(aside)
        if (foundAside !== undefined) return foundAside
      }
    }
    return undefined
  }

  async function remove(hash: string): Promise<boolean> {
    const { shard, path } = placeOf(folder, parseHash(hash))
    return named(`remove ${path}`, async () => {
      await refuseLink(shard)
      let wasThere = false
      for (const place of [path, ...(await findAsides(folder, hash))]) wasThere = (await removeFile(place)) || wasThere
      return wasThere
    })
  }

  async function* list(): AsyncIterable<ContentFile> {
    for (const shard of await listShards(folder)) {
      for (const name of (await readdir(join(folder, shard))).sort()) {
        const hash = findHash(shard, name)
        const facts = hash === undefined ? undefined : await look(join(folder, shard, name))
        if (hash !== undefined && facts?.isFile() === true) {
          yield { hash, sizeBytes: facts.size, modifiedAt: facts.mtimeMs }
        }
      }
    }
  }

  return {
    put,
    read,
    has,
    delete: remove,
    list,
    sweep: (isReachable, olderThanMs = 3_600_000) => sweepContent({ folder, clock, isReachable, olderThanMs }),
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex")
}

/** Makes content that is there already young again. False if it is missing or damaged, and has to be written. */
async function freshen(path: string, bytes: Uint8Array, clock: Clock): Promise<boolean> {
  const facts = await look(path)
  if (facts?.isDirectory() === true) throw corrupt(path, "is a folder")
  if (facts?.isFile() !== true || facts.size !== bytes.byteLength) return false
  if (Buffer.compare((await readPlain(path)) ?? new Uint8Array(), bytes) !== 0) return false
  const now = new Date(clock.now())
  try {
    await lutimes(path, now, now)
    return true
  } catch (error) {
    if (findErrorCode(error) === "ENOENT") return false
    throw error
  }
}

/** The bytes of a plain file, `undefined` if there is none. Never follows a link and never waits for a pipe. */
async function readPlain(path: string): Promise<Uint8Array | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      if (!(await file.stat()).isFile()) throw corrupt(path, "is not a plain file")
      return await file.readFile()
    } finally {
      await file.close()
    }
  } catch (error) {
    const code = findErrorCode(error)
    if (code === "ENOENT") return undefined
    if (code === "ELOOP" || code === "ENXIO") throw corrupt(path, "is not a plain file")
    throw error
  }
}

async function removeFile(path: string): Promise<boolean> {
  const facts = await look(path)
  if (facts === undefined) return false
  if (!facts.isFile()) throw corrupt(path, "is not a plain file")
  await unlink(path)
  return true
}

/** A shard that is a link would lead reads and writes out of the folder. */
async function refuseLink(shard: string): Promise<void> {
  const facts = await look(shard)
  if (facts !== undefined && !facts.isDirectory()) throw corrupt(shard, "is not a folder")
}

async function named<Result>(action: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw fromFileError(error, action)
  }
}

function corrupt(file: string, what: string, hash?: string): KeepupError {
  return new KeepupError("CORRUPT", `${file} ${what}.`, {
    hint: `Run \`keepup doctor\` to see what is affected.${hash === undefined ? "" : " Keeping the same content again mends it."}`,
    details: { file, ...(hash === undefined ? {} : { hash }) },
  })
}
