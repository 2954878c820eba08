/**
 * The names of one folder in an index. They are asked for in the order in which they were added as long as nothing
 * changed, so a table of them is made only where something did.
 */
import type { BytePath } from "./byte-path.js"

export class FolderNames {
  readonly #names: BytePath[] = []
  #next = 0
  #places: Map<BytePath, number> | undefined

  add(name: BytePath): void {
    this.#names.push(name)
  }

  /** Call only after all were added. */
  has(name: BytePath): boolean {
    if (this.#names[this.#next] === name) {
      this.#next++
      return true
    }
    this.#places ??= new Map(this.#names.map((one, place) => [one, place]))
    const place = this.#places.get(name)
    if (place === undefined) return false
    this.#next = place + 1
    return true
  }
}
