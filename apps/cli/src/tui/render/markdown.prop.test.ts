import fc from "fast-check"
import { expect, it } from "vitest"
import { textWidth } from "../../output/text.js"
import { createMarkdownStream, renderMarkdown } from "./markdown.js"
import { renderPatch, renderPlain } from "./patch.js"

const piece = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.constantFrom(
    "\n",
    "\n\n",
    "# ",
    "- ",
    "  1. ",
    "> ",
    "```\n",
    "~~~ts\n",
    "**",
    "_",
    "`",
    "[a](b)",
    "| a | b |\n|---|--:|\n",
    "| 漢字 | x |\n",
    "---\n",
    "\u001b[31m",
    "\u001b]8;;http://x\u0007",
    "\u001b",
    "\r",
    "\t",
    "word ".repeat(30),
    "x".repeat(120),
    "👨‍👩‍👧".repeat(12),
  ),
)
const text = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(""))
const width = fc.integer({ min: 12, max: 100 })
// biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours
const colours = /\u001b\[[0-9;]*m/g

it("no line is wider than it may be", () => {
  fc.assert(
    fc.property(text, width, (source, room) => {
      for (const line of renderMarkdown(source, { width: room, isColoured: false })) {
        expect(textWidth(line)).toBeLessThanOrEqual(room)
      }
      for (const line of [...renderPatch(source, room, false), ...renderPlain(source, room)]) {
        expect(textWidth(line)).toBeLessThanOrEqual(room)
      }
    }),
  )
})

it("no control character of others survives", () => {
  fc.assert(
    fc.property(text, width, (source, room) => {
      const lines = [...renderMarkdown(source, { width: room, isColoured: true }), ...renderPatch(source, room, true)]
      for (const line of lines) expect(line.replace(colours, "")).not.toMatch(/\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u)
      const bare = [...renderMarkdown(source, { width: room, isColoured: false }), ...renderPlain(source, room)]
      for (const line of bare) expect(line).not.toMatch(/\p{Cc}/u)
    }),
  )
})

it("gives the same lines however the text comes in, and the tail is what would follow", () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(), { maxLength: 8 }), width, (source, places, room) => {
      const options = { width: room, isColoured: true }
      const borders = places.map((place) => place % (source.length + 1)).sort((a, b) => a - b)
      const stream = createMarkdownStream(options)
      const lines: string[] = []
      for (const [at, from] of [0, ...borders].entries()) {
        lines.push(...stream.push(source.slice(from, borders[at] ?? source.length)))
        stream.tail()
      }
      const tail = stream.tail()
      expect([...lines, ...tail]).toEqual(renderMarkdown(source, options))
      expect(stream.end()).toEqual(tail)
    }),
  )
})
