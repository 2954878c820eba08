/**
 * Refs of the shadow repository, as git reads them: one file each, or a line of `packed-refs`. All writes happen
 * under the store's lock, so a ref never needs a lock file of its own that a killed process could leave behind.
 */

import { linkSync, readdirSync, readFileSync, renameSync } from "node:fs"
import { dirname, join } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import { randomHex } from "../store/lazy-crypto.js"
import { makeFolder, removeFile, replaceFile, writeNewFile } from "./durable-file.js"

export const checkpointRefs = "refs/keepup/checkpoints/"
/** The newest snapshot; what `git log` in the shadow repository shows. */
export const latestRef = "refs/heads/latest"
/** The tree the index stands for. */
export const indexTreeRef = "refs/keepup/index-tree"

export interface PreparedRef {
  readonly folder: string
  readonly temporary: string
  /** Its content is on disk already, or comes there with another one's; only its name is not. */
  readonly isDurable: boolean
  place(): void
  abandon(): void
}

export interface RefStore {
  read(name: string): string | undefined
  /** Writes the content of a ref under a temporary name; `place` makes it the ref. */
  prepare(name: string, id: string): PreparedRef
  /** The same for what another ref says: one file under two names, so that there is nothing to write. */
  prepareSame(name: string, as: string, id: string): PreparedRef
  /** Several refs to one object: one file under several names, so that the disk writes one. */
  prepareAll(names: readonly string[], id: string): PreparedRef[]
  /** Not durable by itself: only for refs that can be made again. */
  write(name: string, id: string): void
  remove(names: readonly string[]): void
  list(prefix?: string): Map<string, string>
  /** Moves all refs into one file. */
  pack(): void
}

const validId = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/

/** The ref of a checkpoint, or `INVALID_INPUT` for an id git could not take as a name. */
export function checkpointRef(id: string): string {
  if (validId.test(id) && !/\.\.|\.lock$|\.$/.test(id)) return checkpointRefs + id
  throw new KeepupError("INVALID_INPUT", `Not a usable checkpoint id: ${JSON.stringify(id)}.`, {
    hint: "Use letters, digits, dots, dashes and underscores.",
  })
}

export function createRefStore(gitDirectory: string): RefStore {
  const packedFile = join(gitDirectory, "packed-refs")

  function readPacked(): Map<string, string> {
    const refs = new Map<string, string>()
    for (const line of readText(packedFile)?.split("\n") ?? []) {
      const match = /^([0-9a-f]{40}) (refs\/.+)$/.exec(line)
      if (match) refs.set(match[2] as string, match[1] as string)
    }
    return refs
  }

  function writePacked(refs: Map<string, string>): void {
    const lines = [...refs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, id]) => `${id} ${name}\n`)
    replaceFile(packedFile, `# pack-refs with: peeled fully-peeled sorted \n${lines.join("")}`, { durable: true })
  }

  function readLoose(folder: string, refs: Map<string, string>): void {
    for (const entry of readdirSync(join(gitDirectory, folder), { withFileTypes: true })) {
      const name = `${folder}/${entry.name}`
      if (entry.isDirectory()) readLoose(name, refs)
      else {
        const id = readText(join(gitDirectory, name))?.trim()
        if (id !== undefined && /^[0-9a-f]{40}$/.test(id)) refs.set(name, id)
      }
    }
  }

  function list(prefix = "refs/"): Map<string, string> {
    const refs = readPacked()
    readLoose("refs", refs)
    return new Map([...refs].filter(([name]) => name.startsWith(prefix)))
  }

  function prepare(name: string, id: string): PreparedRef {
    const prepared = beside(name, false)
    writeNewFile(prepared.temporary, `${id}\n`, { durable: false })
    return prepared
  }

  function prepareSame(name: string, as: string, id: string): PreparedRef {
    return link(name, join(gitDirectory, as), id) ?? prepare(name, id)
  }

  function prepareAll([first, ...others]: readonly string[], id: string): PreparedRef[] {
    if (first === undefined) return []
    const written = prepare(first, id)
    return [written, ...others.map((name) => link(name, written.temporary, id) ?? prepare(name, id))]
  }

  /** Undefined where it has to be written: not every disk can, and not for ever. */
  function link(name: string, as: string, id: string): PreparedRef | undefined {
    const prepared = beside(name, true)
    try {
      linkSync(as, prepared.temporary)
      if (readText(prepared.temporary) === `${id}\n`) return prepared
      removeFile(prepared.temporary)
    } catch {
      // It does not matter why.
    }
    return undefined
  }

  function beside(name: string, isDurable: boolean): PreparedRef {
    const path = join(gitDirectory, name)
    const temporary = join(gitDirectory, `tmp-ref-${randomHex(6)}`)
    makeFolder(dirname(path))
    return {
      folder: dirname(path),
      temporary,
      isDurable,
      place() {
        renameSync(temporary, path)
        if (isDurable) removeFile(temporary) // renamed onto a name of the same file, both names stay
      },
      abandon: () => removeFile(temporary),
    }
  }

  return {
    read(name) {
      const id = readText(join(gitDirectory, name))?.trim()
      return id !== undefined && /^[0-9a-f]{40}$/.test(id) ? id : readPacked().get(name)
    },
    prepare,
    prepareSame,
    prepareAll,
    write(name, id) {
      prepare(name, id).place()
    },
    remove(names) {
      const packed = readPacked()
      const before = packed.size
      for (const name of names) packed.delete(name)
      if (packed.size !== before) writePacked(packed)
      for (const name of names) removeFile(join(gitDirectory, name))
    },
    list,
    pack() {
      const loose = new Map<string, string>()
      readLoose("refs", loose)
      const packed = readPacked()
      if ([...loose].every(([name, id]) => packed.get(name) === id && name === latestRef)) return
      writePacked(new Map([...packed, ...loose]))
      for (const name of loose.keys()) {
        if (name !== latestRef) removeFile(join(gitDirectory, name))
      }
    },
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}
