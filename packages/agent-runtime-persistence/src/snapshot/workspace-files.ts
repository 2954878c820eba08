/** Looks at the workspace's files: what is at a path, and its bytes if they can be had whole. Follows no link. */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
} from "node:fs"
import type { SkipReason } from "@ku0/agent-runtime-core"
import { type BytePath, joinPath, toBytePath, toSystemPath } from "./byte-path.js"
import { encodeStat, type FileStat } from "./file-stat.js"

export type Found =
  | { readonly kind: "absent" }
  | { readonly kind: "folder" }
  | { readonly kind: "skipped"; readonly reason: SkipReason }
  | {
      readonly kind: "file"
      readonly mode: "100644" | "100755" | "120000"
      readonly stat: FileStat
      readonly size: number
    }

export type Content =
  | { readonly kind: "content"; readonly data: Buffer; readonly mode: string; readonly stat: FileStat }
  | { readonly kind: "absent" }
  | { readonly kind: "skipped"; readonly reason: SkipReason }

/** What tells whether a folder is still the one it was. */
export type FolderLook = Pick<Stats, "ino" | "mtimeMs" | "ctimeMs">

export interface NamedEntry {
  readonly name: BytePath
  isDirectory(): boolean
}

export interface WorkspaceFiles {
  /** Larger ones are skipped. */
  readonly maxFileSize: number
  readonly root: string
  resolve(path: BytePath): string | Buffer
  /** What is at a path. A path below a link, or below a file, is absent: it is not in the workspace. */
  look(path: BytePath): Found
  /**
   * The bytes of a file or the target of a link, unchanged from start to end of reading. They are valid until the next
   * call: small files share one buffer.
   */
  read(path: BytePath): Content
  /** Names in a folder, or undefined when it can't be read. */
  list(folder: BytePath): NamedEntry[] | undefined
  /** Whether a folder is there and no link, nor below one. */
  isRealFolder(folder: BytePath): boolean
  /** As `lookAtFolder`, but as it was found when it was asked whether it is real, if it was. */
  lookAtFolder(folder: BytePath): FolderLook | Error | undefined
  /** A folder was looked at just now and is one, by whatever path leads there. The one it is in was noted before. */
  noteFolder(folder: BytePath, parent: BytePath, look: FolderLook): void
  /** Forgets which folders were found to be real. Call at the start of each look at the workspace. */
  refresh(): void
}

const attempts = 4

export function createWorkspaceFiles(root: string, maxFileSize: number): WorkspaceFiles {
  const bytesRoot = toBytePath(root)
  const small = Buffer.allocUnsafeSlow(128 << 10)
  const realFolders = new Map<BytePath, FolderLook | boolean | Error>([["", true]])
  let last: { readonly path: BytePath; readonly resolved: string | Buffer } = {
    path: "",
    resolved: toSystemPath(bytesRoot),
  }

  /** A path is often asked for several times in a row. */
  function resolve(path: BytePath): string | Buffer {
    if (path !== last.path) last = { path, resolved: toSystemPath(path === "" ? bytesRoot : `${bytesRoot}/${path}`) }
    return last.resolved
  }

  /** The folder there, or true; false when it is none or below a link, or why that can't be told. */
  function checkFolder(path: BytePath): FolderLook | boolean | Error {
    const known = realFolders.get(path)
    if (known !== undefined) return known
    const slash = path.lastIndexOf("/")
    const above = slash < 0 || checkFolder(path.slice(0, slash))
    const state = isReal(above) ? (lookAtFolder(resolve(path)) ?? false) : above
    realFolders.set(path, state)
    return state
  }

  function statPath(path: BytePath): BigIntStats | undefined {
    const slash = path.lastIndexOf("/")
    const folder = slash < 0 || checkFolder(path.slice(0, slash))
    if (folder instanceof Error) throw folder
    return folder ? lstatSync(resolve(path), { bigint: true, throwIfNoEntry: false }) : undefined
  }

  function look(path: BytePath): Found {
    try {
      const stat = statPath(path)
      if (stat === undefined) return { kind: "absent" }
      if (stat.isDirectory()) return { kind: "folder" }
      return classify(stat, maxFileSize)
    } catch (error) {
      return explain(error)
    }
  }

  function read(path: BytePath): Content {
    for (let attempt = 1; ; attempt++) {
      try {
        const content = readOnce(path)
        if (content !== "changed") return content
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code
        if (code !== "ELOOP" && code !== "EINVAL") return explain(error)
      }
      if (attempt === attempts) return { kind: "skipped", reason: "changing" }
      if (attempt > 1) Atomics.wait(pause, 0, 0, 2 ** attempt)
    }
  }

  function readOnce(path: BytePath): Content | "changed" {
    const before = statPath(path)
    if (before === undefined || before.isDirectory()) return { kind: "absent" }
    const found = classify(before, maxFileSize)
    if (found.kind !== "file") return found as Content
    const data = before.isSymbolicLink() ? readlinkSync(resolve(path), "buffer") : readRegular(path, before)
    const after = lstatSync(resolve(path), { bigint: true })
    const stat = encodeStat(after)
    return data === "changed" || stat !== found.stat ? "changed" : { kind: "content", data, mode: found.mode, stat }
  }

  function readRegular(path: BytePath, expected: BigIntStats): Buffer | "changed" {
    // Not blocking: a pipe that took the file's place must not hold us.
    const descriptor = openSync(resolve(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const opened = fstatSync(descriptor, { bigint: true })
      if (!opened.isFile() || opened.ino !== expected.ino || opened.size !== expected.size) return "changed"
      const size = Number(opened.size)
      const data = size < small.length ? small : Buffer.allocUnsafeSlow(size + 1)
      let length = 0
      // It is asked for one byte more than it should have: with exactly as many it has ended, or its times will tell.
      do {
        const count = readSync(descriptor, data, length, size + 1 - length, length)
        if (count === 0) break
        length += count
      } while (length < size)
      return length === size ? data.subarray(0, size) : "changed"
    } finally {
      closeSync(descriptor)
    }
  }

  function list(folder: BytePath): NamedEntry[] | undefined {
    try {
      return readdirSync(resolve(folder), { withFileTypes: true, encoding: "latin1" })
    } catch {
      return listWithoutTypes(folder)
    }
  }

  /** Some file systems do not tell what a name stands for. */
  function listWithoutTypes(folder: BytePath): NamedEntry[] | undefined {
    try {
      const names = readdirSync(resolve(folder), { encoding: "latin1" })
      return names.map((name) => ({
        name,
        isDirectory: () => lookAtDisk(resolve(joinPath(folder, name)))?.isDirectory() ?? false,
      }))
    } catch {
      return undefined
    }
  }

  return {
    root,
    maxFileSize,
    resolve,
    look,
    read,
    list,
    isRealFolder: (folder) => isReal(checkFolder(folder)),
    lookAtFolder(folder) {
      const known = realFolders.get(folder)
      return typeof known === "object" ? known : lookAtFolder(resolve(folder))
    },
    noteFolder(folder, parent, look) {
      const above = realFolders.get(parent)
      if (above !== undefined && isReal(above)) realFolders.set(folder, look)
    },
    refresh() {
      realFolders.clear()
      realFolders.set("", true)
    },
  }
}

function isReal(folder: FolderLook | boolean | Error): boolean {
  return folder !== false && !(folder instanceof Error)
}

/** What is at a path on disk, not following a link; undefined when there is nothing, or nothing we may see. */
export function lookAtDisk(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

/** The folder at a path, undefined when there is none, or what keeps us from knowing. Follows no link. */
export function lookAtFolder(path: string | Buffer): Stats | Error | undefined {
  try {
    const stat = lstatSync(path)
    return stat.isDirectory() ? stat : undefined
  } catch (error) {
    return explain(error).kind === "absent" ? undefined : (error as Error)
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4))

function classify(stat: BigIntStats, maxFileSize: number): Found {
  if (stat.isSymbolicLink()) return { kind: "file", mode: "120000", stat: encodeStat(stat), size: Number(stat.size) }
  if (!stat.isFile()) return { kind: "skipped", reason: "special" }
  if (stat.size > BigInt(maxFileSize)) return { kind: "skipped", reason: "too-large" }
  const mode = (stat.mode & 0o100n) === 0n ? "100644" : "100755"
  return { kind: "file", mode, stat: encodeStat(stat), size: Number(stat.size) }
}

function explain(error: unknown): { kind: "absent" } | { kind: "skipped"; reason: SkipReason } {
  const code = (error as NodeJS.ErrnoException).code
  return code === "ENOENT" || code === "ENOTDIR" ? { kind: "absent" } : { kind: "skipped", reason: "unreadable" }
}
