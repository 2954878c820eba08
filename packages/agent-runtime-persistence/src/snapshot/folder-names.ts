/**
 * The names of one folder in an index, known by where in some bytes they are, each with a NUL behind it. They are asked
 * for in the order in which they were added as long as nothing changed, so a table of them is made only where something
 * did.
 */
import type { BytePath } from "./byte-path.js"

/** Where names are. The bytes may be others while names are still added, the same names in the same places. */
export interface NameBytes {
  bytes: Buffer
}

export class FolderNames {
  readonly #source: NameBytes
  readonly #starts: number[] = []
  #next = 0
  #places: Map<BytePath, number> | undefined

  constructor(source: NameBytes) {
    this.#source = source
  }

  add(start: number): void {
    this.#starts.push(start)
  }

  /** Call only after all were added. */
  has(name: BytePath): boolean {
    const { bytes } = this.#source
    const next = this.#starts[this.#next]
    if (next !== undefined && isAt(bytes, next, name)) {
      this.#next++
      return true
    }
    this.#places ??= new Map(this.#starts.map((start, place) => [nameAt(bytes, start), place]))
    const place = this.#places.get(name)
    if (place === undefined) return false
    this.#next = place + 1
    return true
  }
}

function isAt(bytes: Buffer, start: number, name: BytePath): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name.charCodeAt(i)) return false
  return bytes[start + name.length] === 0
}

export function nameAt(bytes: Buffer, start: number): BytePath {
  return bytes.toString("latin1", start, bytes.indexOf(0, start))
}
