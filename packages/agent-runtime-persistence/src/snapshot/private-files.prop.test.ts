/** Few marks say the same of every file as many. */
import fc from "fast-check"
import { expect, it } from "vitest"
import { compactMarks, hasManyMore, isPrivate, notePrivate } from "./private-files.js"

const name = fc.constantFrom("a", "b", "c", "d e", "\xff")
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"))
const files = fc
  .dictionary(path, fc.boolean(), { maxKeys: 60 })
  .map((all) => Object.entries(all).filter(([file]) => !Object.keys(all).some((other) => other.startsWith(`${file}/`))))

function mark(marks: Map<string, boolean>, all: readonly (readonly [string, boolean])[]): Map<string, boolean> {
  for (const [file, is] of all) notePrivate(marks, file, is)
  return marks
}

const ask = (marks: Map<string, boolean>, all: readonly (readonly [string, boolean])[]) =>
  all.map(([file]) => [file, isPrivate(marks, file)])

it("says of every file what was noted last, before and after the marks were made fewer", () => {
  fc.assert(
    fc.property(files, fc.array(fc.tuple(fc.nat(), fc.boolean()), { maxLength: 20 }), (first, changes) => {
      const marks = mark(new Map(), first)
      expect(ask(marks, first)).toEqual(first)
      const paths = first.map(([file]) => file)
      const compact = compactMarks(marks, paths)
      expect(ask(compact, first)).toEqual(first)
      expect(compact.size).toBeLessThanOrEqual(marks.size)
      expect(compactMarks(compact, paths)).toEqual(compact)
      const now = new Map(first)
      for (const [i, is] of first.length === 0 ? [] : changes) {
        const file = paths[i % paths.length] as string
        now.set(file, is)
        notePrivate(compact, file, is)
      }
      expect(ask(compact, [...now])).toEqual([...now])
      expect(compactMarks(compact, paths)).toEqual(compactMarks(mark(new Map(), [...now]), paths))
    }),
  )
})

it("needs one mark where all is private, and one more for each exception", () => {
  const all = Array.from({ length: 100_000 }, (_, i) => [`d${i % 100}/e${i % 700}/f${i}`, i % 50_000 !== 7] as const)
  const paths = all.map(([file]) => file)
  const marks = mark(new Map(), all)
  expect(hasManyMore(marks, 0)).toBe(true)
  expect(compactMarks(marks, paths)).toEqual(
    new Map([
      ["/", true],
      ["d7/e7/f7", false],
      ["d7/e307/f50007", false],
    ]),
  )
  const folder = all.map(([file]) => [file, file.startsWith("d3/")] as const)
  expect(compactMarks(mark(new Map(), folder), paths)).toEqual(new Map([["d3/", true]]))
})
