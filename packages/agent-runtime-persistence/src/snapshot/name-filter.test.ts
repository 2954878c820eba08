/** A name filter never misses what git ignores: git itself is the oracle. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterAll, beforeAll, expect, it } from "vitest"
import { createNameFilter } from "./name-filter.js"

let folder: string
const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" }
const paths = [
  "a",
  "b",
  "ab",
  "a/b",
  "a/a",
  "b/a/b",
  "a.b",
  "b/ab/a",
  "-",
  "a/b/ab",
  "a b",
  "ba",
  "B",
  "b ",
  "#a",
  "!b",
]
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keepup-names-"))
  execFileSync("git", ["init", "-q"], { cwd: folder, env })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it("suspects the name, or a folder above it, of everything git ignores", () => {
  const piece = fc.constantFrom(
    ...["a", "b", "*", "**", "?", "/", ".", "[ab]", "[!a]", "[a/b]", "\\a", "\\ ", "\\", "-", " ", "B", "#", "!", "\r"],
  )
  const text = fc
    .array(fc.array(piece, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 })
    .map((lines) => lines.map((pieces) => pieces.join("")).join("\n"))
  fc.assert(
    fc.property(text, fc.boolean(), (rules, hasMark) => {
      const content = (hasMark ? "\ufeff" : "") + rules
      writeFileSync(join(folder, ".gitignore"), content)
      const suspects = createNameFilter(Buffer.from(content).toString("latin1"))
      const missed = askGit().filter((path) => !path.split("/").some((name) => suspects(name)))
      expect({ rules, missed }).toEqual({ rules, missed: [] })
    }),
    {
      numRuns: 150,
      examples: [
        ["[a/b]b", false],
        ["b\\ ", false],
        ["a/**", false],
        ["b  ", true],
        ["a\r\nb", false],
        ["\\#a\n\\!b", false],
        ["\\a/ ", false],
      ],
    },
  )
})

it("clears names no rule can match", () => {
  const suspects = createNameFilter("# note\nnode_modules/\n*.log\n/build\n!keep.log\ntmp-*-x\n")
  const names = ["node_modules", "x.log", "build", "keep.log", "tmp-1-x"]
  expect(names.filter(suspects)).toEqual(names)
  expect(["src", "log", "node_module", "a.logs", "note", "tmp-1-y", "builds"].filter(suspects)).toEqual([])
})

function askGit(): string[] {
  const args = ["check-ignore", "--no-index", "-z", "--stdin"]
  try {
    const out = execFileSync("git", args, { cwd: folder, env, input: paths.map((path) => `./${path}\0`).join("") })
    return out
      .toString()
      .split("\0")
      .slice(0, -1)
      .map((path) => path.slice(2))
  } catch (error) {
    if ((error as { status?: number }).status === 1) return []
    throw error
  }
}
