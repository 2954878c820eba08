/**
 * Makes and opens the shadow repository of one workspace: a bare git repository that any git can read, in a folder the
 * user never sees, bound to one workspace.
 */

import { createHash } from "node:crypto"
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, renameSync } from "node:fs"
import { dirname, join, relative, resolve, sep } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import { replaceFile, syncAll } from "./durable-file.js"
import { findRealFolder, missingWorkspace } from "./workspace-root.js"

export interface ShadowLocation {
  readonly workspacePath: string
  /** The store itself, or … */
  readonly storeDirectory?: string
  /** … the state directory: the store is then `snapshots/<name made from the workspace>` in it. */
  readonly stateDirectory?: string
  readonly homeDirectory?: string
  /** Bind an existing store to this workspace, because the user moved it. */
  readonly rebind?: boolean
}

export interface ShadowRepository {
  /** The workspace without links in its path. */
  readonly workspace: string
  /** It is not there: its snapshots can be read, and that is all. */
  readonly isGone: boolean
  readonly directory: string
  readonly isNew: boolean
  /** Kept when all that was missing is on disk for good, and the store is bound to the workspace. */
  readonly ready: Promise<void>
}

const formatVersion = 1
const bindingFile = "keepup.json"

/** What git finds wrong with files that mean something to it is no damage: the workspace has them like that. */
const harmless = [
  ...["hasDotgit", "gitattributesSymlink", "gitignoreSymlink", "mailmapSymlink"],
  ...["Blob", "Large", "LineLength", "Missing"].map((name) => `gitattributes${name}`),
  ...["Blob", "Large", "Missing", "Name", "Parse", "Path", "Symlink", "Update", "Url"].map(
    (name) => `gitmodules${name}`,
  ),
]

const config = `[core]
\trepositoryformatversion = 0
\tbare = true
\tfilemode = true
\tsymlinks = true
\tignorecase = false
\tprecomposeunicode = false
\tprotectNTFS = false
\tprotectHFS = false
\tlogallrefupdates = false
\tautocrlf = false
\tsafecrlf = false
\texcludesFile = /dev/null
\tfsync = committed,loose-object,reference
[gc]
\tauto = 0
[maintenance]
\tauto = false
[pack]
\tthreads = 1
[fsck]
${harmless.map((name) => `\t${name} = ignore\n`).join("")}`

const parts: readonly (readonly [name: string, text: string])[] = [
  ["HEAD", "ref: refs/heads/latest\n"],
  ["config", config],
  ["info/attributes", "* -text -eol -filter -ident -working-tree-encoding\n"],
]

/** Where the store of a workspace lies in a state directory. */
function storeDirectoryOf(stateDirectory: string, workspace: string): string {
  const name = createHash("sha256").update(workspace).digest("hex").slice(0, 24)
  return join(stateDirectory, "snapshots", name)
}

/** Whether the name of the store's folder says that it is this workspace's. */
function isNamedFor({ stateDirectory }: ShadowLocation, directory: string, workspace: string): boolean {
  return stateDirectory !== undefined && directory === resolve(storeDirectoryOf(stateDirectory, workspace))
}

function directoryOf({ storeDirectory, stateDirectory }: ShadowLocation, workspace: string): string {
  return resolve(storeDirectory ?? storeDirectoryOf(stateDirectory as string, workspace))
}

export function openShadowRepository(location: ShadowLocation, now: number): ShadowRepository {
  const { stateDirectory } = location
  if (location.storeDirectory === undefined && stateDirectory === undefined) {
    throw new KeepupError("INVALID_INPUT", "A snapshot store needs a store directory or a state directory.")
  }
  const { workspace, isGone } = findWorkspace(location)
  const directory = directoryOf(location, workspace)
  refuseDangerous(workspace, location, directory)
  const isNamed = isNamedFor(location, directory, workspace)
  const binding = readBinding(directory, isNamed)
  if (binding !== undefined && binding !== workspace && location.rebind !== true && !isNamed) {
    throw new KeepupError("INVALID_INPUT", `The snapshot store is bound to ${binding}, expected ${workspace}.`, {
      hint: "If the workspace was moved, bind the store to its new place explicitly.",
      details: { bound: binding, workspace },
    })
  }
  const text = JSON.stringify({ version: formatVersion, workspace, createdAt: now })
  const ready = finish(directory, complete(directory, now), binding === workspace ? undefined : `${text}\n`)
  ready.catch(() => {}) // whoever opens the store awaits it, unless something else fails first
  return { workspace, isGone, directory, isNew: binding === undefined, ready }
}

/** The binding is written last: a store without one was never finished, and making it again is safe. */
async function finish(directory: string, changed: readonly string[], binding: string | undefined): Promise<void> {
  await syncAll(changed)
  if (binding === undefined) return
  const file = join(directory, bindingFile)
  replaceFile(file, binding, { durable: false })
  await syncAll([file, directory])
}

/**
 * What every store has, whatever it keeps. A store that lost some of it gets it again: without, git reads nothing of
 * what is there. Returns what must still be made durable.
 */
function complete(directory: string, now: number): string[] {
  const changed = new Set<string>()
  for (const folder of ["", "objects/pack", "objects/info", "refs/heads", "info", "restores"]) {
    const first = mkdirSync(join(directory, folder), { recursive: true, ...(folder === "" ? { mode: 0o700 } : {}) })
    if (first !== undefined) changed.add(dirname(first))
  }
  for (const [name, text] of parts) {
    const file = join(directory, name)
    const isFile = lstatSync(file, { throwIfNoEntry: false })?.isFile() === true
    if (isFile && readFileSync(file, "utf8") === text) continue
    if (!isFile && existsSync(file)) renameSync(file, `${file}.damaged-${now}`)
    replaceFile(file, text, { durable: false })
    changed.add(file).add(dirname(file))
  }
  return [...changed]
}

/** `isNamed`: the folder's own name says whose it is, so a binding that can't be read is made again. */
function readBinding(directory: string, isNamed: boolean): string | undefined {
  const file = join(directory, bindingFile)
  if (!existsSync(file)) return undefined
  let binding: { version?: unknown; workspace?: unknown } | null
  try {
    binding = JSON.parse(readFileSync(file, "utf8"))
  } catch (cause) {
    if (isNamed && cause instanceof SyntaxError) return undefined
    throw new KeepupError("CORRUPT", `${file} can't be read.`, { cause, hint: "Restore it, or bind the store again." })
  }
  if (typeof binding?.version === "number" && binding.version > formatVersion) {
    throw new KeepupError("STORE_TOO_NEW", `The snapshot store ${directory} was written by a newer keepup.`, {
      hint: "Update keepup.",
    })
  }
  if (typeof binding?.workspace === "string") return binding.workspace
  if (isNamed) return undefined
  throw new KeepupError("CORRUPT", `${file} names no workspace.`)
}

/**
 * One that is gone, or moved away with a link in its place, still has its snapshots: they can be read, but none can be
 * taken.
 */
function findWorkspace(location: ShadowLocation): { workspace: string; isGone: boolean } {
  const path = resolve(location.workspacePath)
  const real = findRealFolder(path)
  if (real === path) return { workspace: real, isGone: false }
  if (real === undefined || location.storeDirectory === undefined) {
    const directory = directoryOf(location, path)
    const isNamed = isNamedFor(location, directory, path)
    const binding = readBinding(directory, isNamed)
    if (binding === path || (isNamed && existsSync(join(directory, "objects"))))
      return { workspace: path, isGone: true }
  }
  if (real === undefined) throw missingWorkspace(path)
  return { workspace: real, isGone: false }
}

/** Roots that hold far more than one piece of work, or keepup's own files. */
function refuseDangerous(workspace: string, location: ShadowLocation, directory: string): void {
  const { homeDirectory, stateDirectory } = location
  const refused = [resolve("/")]
  if (homeDirectory !== undefined) {
    refused.push(homeDirectory, ...["Desktop", "Documents", "Downloads"].map((name) => join(homeDirectory, name)))
  }
  const own = [directory, ...(stateDirectory === undefined ? [] : [stateDirectory])]
  const isRefused =
    refused.some((path) => real(path) === workspace) || own.some((path) => isWithin(workspace, real(path)))
  if (!isRefused) return
  throw new KeepupError("INVALID_INPUT", `Cannot take snapshots of ${workspace}.`, {
    hint: "Choose the folder of one project.",
    details: { workspace },
  })
}

/** The path of `inner` in `outer`, or undefined when it is not inside. */
export function pathWithin(outer: string, inner: string): string | undefined {
  return isWithin(inner, outer) ? relative(outer, inner).split(sep).join("/") : undefined
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep)
}

function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}
