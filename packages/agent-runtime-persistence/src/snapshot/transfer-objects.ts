/**
 * Snapshots on their way to another store: every object the commits hold, children before their parents, and the way
 * back in. What comes in is proven object by object (id, shape, names that stay inside a workspace), is on disk when it
 * returns, and gets its refs last.
 */
import { KeepupError } from "@ku0/agent-runtime-core"
import type { BytePath } from "./byte-path.js"
import { emptyTree, type ObjectType, objectId, parseTree, readMode, type TreeEntry, treeMode } from "./git-objects.js"
import { createPackWriter } from "./pack-writer.js"
import { checkpointRef } from "./refs.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import { parseSnapshotMessage } from "./snapshot-message.js"
import type { StoreLock } from "./store-lock.js"
import { findCommit } from "./store-session.js"

export interface SnapshotObject {
  readonly id: string
  readonly type: ObjectType
  readonly data: Buffer
}

export interface ImportedObjects {
  readonly count: number
  /** Takes the refs away again; the objects are left to `gc`. */
  undo(): Promise<void>
}

/** Accepts objects one by one and throws `CORRUPT` for the first that is not sound. */
export interface ObjectCheck {
  /** `data` may be left out for a blob whose id was proven already. */
  add(object: { readonly id: string; readonly type: ObjectType; readonly data?: Buffer }): void
  hasCommit(id: string): boolean
}

const fileModes = new Set(["100644", "100755", "120000"])
/** All that git ever wrote for a file, a link or a folder. */
const knownModes = /^(?:0?40000|100[0-7]{3}|120000)$/
const commitShape = /^tree ([0-9a-f]{40})\nauthor [^\n]*\ncommitter [^\n]* \d+ [+-]\d{4}\n\n/

export async function* exportObjects(
  environment: SnapshotEnvironment,
  commits: readonly string[],
): AsyncGenerator<SnapshotObject> {
  const { reader } = environment
  const sent = new Set<string>()

  async function* send(id: string, type: ObjectType): AsyncGenerator<SnapshotObject> {
    if (sent.has(id)) return
    sent.add(id)
    const data = id === emptyTree ? Buffer.alloc(0) : await reader.get(id, type)
    if (type === "tree") {
      for (const entry of parseTree(data)) yield* send(entry.id, entry.mode === treeMode ? "tree" : "blob")
    } else if (type === "commit") {
      const [, tree] = commitShape.exec(data.toString("latin1")) ?? []
      if (tree === undefined) throw corrupt(id, "is not a snapshot's commit")
      yield* send(tree, "tree")
    }
    yield { id, type, data }
  }

  for (const commit of commits) yield* send(await findCommit(environment, commit), "commit")
}

/** `refs` is checkpoint id → commit; every commit must be among the objects. */
export async function importObjects(
  environment: SnapshotEnvironment,
  lock: StoreLock,
  objects: Iterable<SnapshotObject>,
  refs: ReadonlyMap<string, string>,
): Promise<ImportedObjects> {
  const names = new Map([...refs].map(([id, commit]) => [checkpointRef(id), commit]))
  const count = await lock.hold(async () => {
    const pack = createPackWriter(environment.packFolder)
    let added = 0
    try {
      const check = createObjectCheck()
      for (const object of objects) {
        check.add(object)
        pack.add(object.id, object.type, object.data)
        added++
      }
      for (const commit of refs.values()) if (!check.hasCommit(commit)) throw corrupt(commit, "is missing")
      environment.step("import:write")
      await pack.finish()
    } catch (error) {
      pack.abandon()
      throw error
    }
    environment.step("import:made")
    try {
      for (const [name, commit] of names) environment.refs.write(name, commit)
      environment.step("import:refs")
    } catch (error) {
      environment.refs.remove([...names.keys()])
      throw error
    }
    return added
  })
  return { count, undo: () => lock.hold(async () => environment.refs.remove([...names.keys()])) }
}

/** `platform` decides which names the disk may take for `.git`, which is never captured; all others are. */
export function createObjectCheck(platform: NodeJS.Platform = process.platform): ObjectCheck {
  const isPlainName = (name: BytePath) => !leadsElsewhere(name) && !isGitFolder(name, platform)
  const isPlainPath = (path: BytePath) => path.split("/").every(isPlainName)
  // an object can only name objects that came before it, so nothing can be missing or run in a circle
  const types = new Map<string, ObjectType>()

  function requireObject(owner: string, id: string, type: ObjectType): void {
    if (types.get(id) !== type) throw corrupt(owner, `names a ${type} that is not there`)
  }

  function checkTree(id: string, data: Buffer): void {
    const names = new Set<string>()
    let last = ""
    for (const { mode, name, id: child } of readTree(id, data)) {
      const isTree = mode === treeMode
      if (!isTree && !fileModes.has(mode)) throw corrupt(id, "holds something that is no file, link or folder")
      if (!isPlainName(name)) throw corrupt(id, "holds a name that leads elsewhere")
      const key = isTree ? `${name}/` : name
      if (key <= last || names.has(name)) throw corrupt(id, "does not list its names once and in order")
      last = key
      names.add(name)
      requireObject(id, child, isTree ? "tree" : "blob")
    }
  }

  function checkCommit(id: string, data: Buffer): void {
    const text = data.toString("latin1")
    const [head, tree] = commitShape.exec(text) ?? []
    if (head === undefined || tree === undefined) throw corrupt(id, "is not a snapshot's commit")
    requireObject(id, tree, "tree")
    const facts = parseSnapshotMessage(data.toString("utf8", head.length))
    const paths = [...facts.emptyFolders, ...[...facts.skipped.keys()].filter((path) => path !== "." && path !== "")]
    if (!paths.every(isPlainPath)) throw corrupt(id, "holds a path that leads elsewhere")
  }

  return {
    add({ id, type, data }) {
      if (data === undefined && type !== "blob") throw corrupt(id, "has no content")
      if (data !== undefined && objectId(type, data) !== id) throw corrupt(id, "has other content than its id says")
      if (type === "tree") checkTree(id, data as Buffer)
      else if (type === "commit") checkCommit(id, data as Buffer)
      types.set(id, type)
    },
    hasCommit: (id) => types.get(id) === "commit",
  }
}

/** Like `parseTree`, for bytes that may be anything. */
function* readTree(id: string, data: Buffer): Generator<TreeEntry> {
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(32, at)
    const end = space < 0 ? -1 : data.indexOf(0, space)
    if (end < 0 || end + 21 > data.length) throw corrupt(id, "is not a list of names")
    const words = data.toString("latin1", at, space)
    yield {
      mode: knownModes.test(words) ? readMode(words) : words,
      name: data.toString("latin1", space + 1, end),
      id: data.toString("hex", end + 1, end + 21),
    }
    at = end + 21
  }
}

/** Anything but one name inside a folder. */
function leadsElsewhere(name: BytePath): boolean {
  return name === "" || name === "." || name === ".." || /[/\0]/.test(name)
}

/** Where disks do not tell cases apart, nor see every letter, `.GIT` would be written into the repository itself. */
function isGitFolder(name: BytePath, platform: NodeJS.Platform): boolean {
  if (platform !== "darwin" && platform !== "win32") return name === ".git"
  const spelled = Buffer.from(name, "latin1").toString("utf8")
  return spelled.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "").toLowerCase() === ".git"
}

function corrupt(id: string, what: string): KeepupError {
  return new KeepupError("CORRUPT", `The snapshot object ${id} ${what}.`, { details: { id } })
}
