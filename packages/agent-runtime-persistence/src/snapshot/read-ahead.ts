/** Many small objects are asked for in one go: each question wakes git, which takes longer than to answer it. */
import type { ObjectReader } from "./object-reader.js"

const mostAhead = 128
const mostBytesAhead = 1 << 20

/** Reads the object at a place of the list, each once. Those that follow are asked for with it as far as they are small. */
export async function readAhead<Content>(
  reader: ObjectReader,
  ids: readonly string[],
  read: (id: string) => Promise<Content>,
): Promise<(place: number) => Promise<Content>> {
  const facts = await reader.describe(ids)
  const asked = new Map<number, Promise<Content>>()
  const ask = (from: number) => {
    let bytes = 0
    for (let at = from; at < ids.length && at < from + mostAhead; at++) {
      bytes += facts[at]?.size ?? 0
      if (at > from && bytes > mostBytesAhead) break
      const content = read(ids[at] as string)
      content.catch(() => {}) // whoever takes it is told
      asked.set(at, content)
    }
  }
  return (place) => {
    if (!asked.has(place)) ask(place)
    const content = asked.get(place) as Promise<Content>
    asked.delete(place)
    return content
  }
}
