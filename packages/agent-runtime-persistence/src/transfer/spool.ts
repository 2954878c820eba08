/** What an import unpacks before it believes any of it: four files in a folder of their own, gone afterwards. */
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"

export interface SpoolFile {
  readonly size: number
  /** Returns where it was put. */
  append(bytes: Uint8Array): number
  read(offset: number, size: number): Buffer
}

export interface Spool {
  /** Sessions and artifacts: what the others name. One line each. */
  readonly heads: SpoolFile
  /** All other records, one line each. */
  readonly records: SpoolFile
  readonly contents: SpoolFile
  readonly objects: SpoolFile
  remove(): void
}

const abandonedMs = 24 * 3_600_000
const prefix = "import-"

export function createSpool(workFolder: string): Spool {
  mkdirSync(workFolder, { recursive: true, mode: 0o700 })
  removeAbandoned(workFolder)
  const folder = mkdtempSync(join(workFolder, prefix))
  const descriptors: number[] = []

  function open(name: string): SpoolFile {
    const descriptor = openSync(join(folder, name), "wx+", 0o600)
    descriptors.push(descriptor)
    let size = 0
    return {
      get size() {
        return size
      },
      append(bytes) {
        const at = size
        for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done, bytes.length - done)
        size += bytes.length
        return at
      },
      read(offset, length) {
        const bytes = Buffer.allocUnsafe(length)
        for (let done = 0; done < length; ) {
          const count = readSync(descriptor, bytes, done, length - done, offset + done)
          if (count === 0) throw new Error(`BUG: ${name} of an import is shorter than what was put into it`)
          done += count
        }
        return bytes
      },
    }
  }

  return {
    heads: open("heads"),
    records: open("records"),
    contents: open("contents"),
    objects: open("objects"),
    remove() {
      for (const descriptor of descriptors.splice(0)) closeSync(descriptor)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The lines of a spool file, without their ends. Reads as it is asked, and never waits: fit for a transaction. */
export function* readSpoolLines(file: SpoolFile): Generator<string> {
  let rest: Buffer = Buffer.alloc(0)
  for (let at = 0; at < file.size; ) {
    const part = file.read(at, Math.min(1 << 20, file.size - at))
    at += part.length
    const bytes = rest.length === 0 ? part : Buffer.concat([rest, part])
    let from = 0
    for (let end = bytes.indexOf(10, from); end >= 0; end = bytes.indexOf(10, from)) {
      yield bytes.toString("utf8", from, end)
      from = end + 1
    }
    rest = bytes.subarray(from)
  }
}

/** What a killed import left. */
function removeAbandoned(workFolder: string): void {
  const before = Date.now() - abandonedMs
  for (const name of readdirSync(workFolder)) {
    const path = join(workFolder, name)
    const isOld = (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? before) < before
    if (name.startsWith(prefix) && isOld) rmSync(path, { recursive: true, force: true })
  }
}
