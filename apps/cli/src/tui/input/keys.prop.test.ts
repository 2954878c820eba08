import fc from "fast-check"
import { expect, it } from "vitest"
import { createKeyDecoder, type Key } from "./keys.js"

const start = "\u001b[200~"
const end = "\u001b[201~"

/** The same input, cut at these places. */
function cutAt(text: string, places: readonly number[]): string[] {
  const borders = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...borders].map((from, at) => text.slice(from, borders[at] ?? text.length))
}

function read(chunks: readonly string[]): Key[] {
  const decoder = createKeyDecoder()
  const keys = [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.flush()]
  // typed text may come in more pieces: it is the same text
  const joined: Key[] = []
  for (const key of keys) {
    const last = joined.at(-1)
    if (key.id === "text" && last?.id === "text") joined[joined.length - 1] = { id: "text", text: last.text + key.text }
    else joined.push(key)
  }
  return joined
}

const places = fc.array(fc.nat(), { maxLength: 12 })
const piece = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(
    "\r",
    "\u001b[A",
    "\u001b[1;5C",
    "\u001b\r",
    "\u0003",
    `${start}pasted\r\n\u001b[B${end}`,
    "\u001bOH",
    "\t",
  ),
)

it("gives the same keys however the input is cut", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), places, (pieces, at) => {
      const input = pieces.join("")
      expect(read(cutAt(input, at))).toEqual(read([input]))
    }),
  )
})

it("gives back a paste byte for byte, wherever it is cut", () => {
  const pasted = fc.string({ unit: "binary" }).filter((text) => !`${text}${end}`.slice(0, -1).includes(end))
  fc.assert(
    fc.property(pasted, places, (text, at) => {
      expect(read(cutAt(`${start}${text}${end}`, at))).toEqual([{ id: "paste", text }])
    }),
  )
})
