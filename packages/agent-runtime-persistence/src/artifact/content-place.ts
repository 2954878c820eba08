/** Where content lies: `FOLDER/ab/<hash>`, and `.<hash>.<chance>.aside` beside it while a sweep decides. */
import { randomBytes } from "node:crypto"
import type { Stats } from "node:fs"
import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import { findErrorCode } from "./file-error.js"

export interface ContentPlace {
  readonly shard: string
  readonly path: string
}

export function placeOf(folder: string, hash: string): ContentPlace {
  const shard = join(folder, hash.slice(0, 2))
  return { shard, path: join(shard, hash) }
}

/** A place beside content that no other sweep uses. */
export function makeAside(folder: string, hash: string): string {
  return join(placeOf(folder, hash).shard, `.${hash}.${randomBytes(6).toString("hex")}.aside`)
}

/** Where sweeps have put a content aside. */
export async function findAsides(folder: string, hash: string): Promise<string[]> {
  const { shard } = placeOf(folder, hash)
  try {
    const names = await readdir(shard)
    return names.filter((name) => findAsideHash(hash.slice(0, 2), name) === hash).map((name) => join(shard, name))
  } catch (error) {
    if (findErrorCode(error) === "ENOENT") return []
    throw error
  }
}

/** Accepts a SHA-256 in lower-case hex, or throws `INVALID_INPUT`: nothing else ever becomes part of a path. */
export function parseHash(value: unknown): string {
  if (typeof value === "string" && isHash(value)) return value
  throw new KeepupError("INVALID_INPUT", "Not the hash of a content: 64 characters of lower-case hex are expected.")
}

/** The hash a file in a shard is named after, if it is a content's name. */
export function findHash(shard: string, name: string): string | undefined {
  return isHash(name) && name.startsWith(shard) ? name : undefined
}

/** The hash of a file that a sweep has put aside. */
export function findAsideHash(shard: string, name: string): string | undefined {
  const [, hash] = /^\.([0-9a-f]{64})\.[0-9a-f]{12}\.aside$/.exec(name) ?? []
  return hash === undefined ? undefined : findHash(shard, hash)
}

/** The names of the real folders that hold content. */
export async function listShards(folder: string): Promise<string[]> {
  try {
    const found = await readdir(folder, { withFileTypes: true })
    return found
      .filter((one) => one.isDirectory() && /^[0-9a-f]{2}$/.test(one.name))
      .map(({ name }) => name)
      .sort()
  } catch (error) {
    if (findErrorCode(error) === "ENOENT") return []
    throw error
  }
}

/** What a path is, itself and not what it points to; `undefined` if there is nothing. */
export async function look(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    if (findErrorCode(error) === "ENOENT") return undefined
    throw error
  }
}

function isHash(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name)
}
