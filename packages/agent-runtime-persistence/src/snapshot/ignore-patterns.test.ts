/** Our patterns mean what git's do: git itself is the oracle. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterAll, beforeAll, expect, it } from "vitest"
import { createPatternList } from "./ignore-patterns.js"

let folder: string
const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" }
const paths = ["a", "b", "ab", "a/b", "a/a", "b/a/b", "a.b", "b/ab/a", "-", "a/b/ab", "a b", "ba", "B"]
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keepup-patterns-"))
  execFileSync("git", ["init", "-q"], { cwd: folder, env })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it("agrees with git on random patterns", () => {
  const piece = fc.constantFrom(
    "a",
    "b",
    "*",
    "**",
    "?",
    "/",
    ".",
    "[ab]",
    "[!a]",
    "[a-b]",
    "\\a",
    "-",
    " ",
    "[[:alpha:]]",
    "B",
  )
  const line = fc.tuple(
    fc.constantFrom("", "", "!", "/"),
    fc.array(piece, { minLength: 1, maxLength: 6 }),
    fc.constantFrom("", "", "/"),
  )
  const lines = fc.array(
    line.map(([start, pieces, end]) => start + pieces.join("") + end),
    { minLength: 1, maxLength: 4 },
  )
  fc.assert(
    fc.property(lines, (patterns) => {
      writeFileSync(join(folder, ".gitignore"), `${patterns.join("\n")}\n`)
      const list = createPatternList(patterns)
      const ours = paths.filter((path) => list.matchWithFolders(path, false))
      expect({ patterns, ignored: ours }).toEqual({ patterns, ignored: askGit() })
    }),
    {
      numRuns: 120,
      examples: [
        [["/**", "!a"]],
        [["**", "!a/b"]],
        [["/**/", "!b"]],
        [["***/a", "aa"]],
        [["b/***/a"]],
        [["a***b"]],
        [["a**/[a-b]"]],
        [["a/b**"]],
      ],
    },
  )
})

function askGit(): string[] {
  try {
    const args = ["check-ignore", "--no-index", "-z", "--stdin"]
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

it("knows whether a pattern could match inside a folder", () => {
  const list = createPatternList(["dist/**", ".env", "out/*/keep", "/a/b/c.txt"])
  const folders = ["dist", "dist/x", "out", "out/y", "a", "a/b", "a/x", "node_modules", "out/y/z"]
  expect(folders.filter((folder) => list.canMatchInside(folder))).toEqual([
    "dist",
    "dist/x",
    "out",
    "out/y",
    "a",
    "a/b",
  ])
  mkdirSync(join(folder, "unused"), { recursive: true })
})
