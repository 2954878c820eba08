/** An index that can be taken as it is, is: told by a glance or by going through all of its names. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterEach, beforeEach, expect, it } from "vitest"
import { findCertain, type IndexToRead } from "./certain-entries.js"
import { findEntries, parseIndex } from "./git-index.js"
import { createPatternList } from "./ignore-patterns.js"
import type { IgnoreRules } from "./ignore-rules.js"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepup-certain-"))
  git(["init", "-q", "."])
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function git(args: string[], input = ""): string {
  return execFileSync("git", args, {
    cwd: folder,
    input: Buffer.from(input, "latin1"),
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" },
  }).toString()
}

function makeIndex(paths: readonly string[], version = 2, mode = "100644"): IndexToRead {
  const id = git(["hash-object", "-w", "--stdin"], "content").trim()
  rmSync(join(folder, ".git/index"), { force: true })
  git(["update-index", "-z", "--index-info"], paths.map((path) => `${mode} ${id}\t${path}\0`).join(""))
  git(["update-index", "--index-version", String(version)])
  return readIndex()
}

function readIndex(): IndexToRead {
  const data = readFileSync(join(folder, ".git/index"))
  return { data, starts: findEntries(data).starts, second: 1e9 }
}

/** Leaves out what the patterns name. Where not only names with dots can be, all names must be gone through. */
function rulesOf(patterns: readonly string[], onlyDottedExcluded: boolean): IgnoreRules {
  const list = createPatternList(patterns)
  const isExcluded = (path: string, isFolder: boolean) => list.match(path, isFolder) === true
  return { isExcluded, onlyDottedExcluded } as IgnoreRules
}

const options = (rules: IgnoreRules) => ({
  ...{ rules, innerPath: (path: string) => path, isAll: true, maxFileSize: 50 << 20 },
})

const name = fc.constantFrom("a", ".a", "b.c", ".gitattributes", "own", ".own", "\xe9.", "..", "x".repeat(300))
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"))
const isPossible = (one: string) => !one.split("/").includes("..")

it("is taken as one by one: random names, versions and rules", () => {
  fc.assert(
    fc.property(
      fc.array(path, { minLength: 1, maxLength: 12 }),
      fc.constantFrom(2, 4),
      fc.constantFrom([], [".own"], [".a/"]),
      (random, version, patterns) => {
        const possible = [...new Set(random)].filter(isPossible)
        const paths = possible.filter((one) => !possible.some((other) => other.startsWith(`${one}/`)))
        fc.pre(paths.length > 0)
        const index = makeIndex(paths, version)
        expect([...index.starts]).toEqual(parseIndex(index.data).entries.map(({ at }) => at))
        const quick = findCertain(index, options(rulesOf(patterns, true)))
        const slow = findCertain(index, options(rulesOf(patterns, false)))
        const isPart = patterns.length > 0 && slow.starts.length < paths.length
        expect({ ...quick, numbers: [] }).toEqual({ ...slow, numbers: [] })
        expect([...(quick.numbers ?? quick.starts.keys())]).toEqual([...(slow.numbers ?? [])])
        expect(quick.isWhole).toBe(!isPart)
        if (version !== 4) expect(quick.numbers === undefined).toBe(!isPart)
      },
    ),
    { numRuns: 40 },
  )
})

it("names every file as young as the index", () => {
  const paths = [".dot/a", "b", "c/.d"]
  const index = { ...makeIndex(paths), second: 0 }
  for (const quick of [true, false]) expect(findCertain(index, options(rulesOf([], quick))).uncertain).toEqual(paths)
})

it.each([
  ["assumed to be unchanged", ["update-index", "--assume-unchanged", "b"], ["a", "b"]],
  ["not in the working tree", ["update-index", "--skip-worktree", "b"], ["a"]],
])("is gone through when an entry is %s", (_, change, left) => {
  makeIndex(["a", "b"])
  git(change)
  const index = readIndex()
  const { starts, numbers, isWhole, uncertain } = findCertain({ ...index, second: 1e10 }, options(rulesOf([], true)))
  const entries = parseIndex(index.data).entries
  expect([...starts].map((at) => entries.find((entry) => entry.at === at)?.path)).toEqual(left)
  expect([isWhole, numbers?.length, uncertain]).toEqual([false, left.length, left.filter((one) => one === "b")])
})

it("is gone through when an entry is a submodule", () => {
  const index = makeIndex(["a"], 2, "160000")
  expect(findCertain(index, options(rulesOf([], true)))).toMatchObject({ isWhole: false })
})

it("is not read beyond its end", () => {
  const { data } = makeIndex(["a", "b", "c/d"])
  for (const version of [2, 4]) {
    const whole = version === 2 ? data : makeIndex(["a", "b", "c/d"], 4).data
    for (let end = 0; end < whole.length - 20; end++) {
      const cut = Buffer.concat([whole.subarray(0, end), Buffer.alloc(20)])
      try {
        expect(findEntries(cut).starts.every((at) => at < cut.length)).toBe(true)
      } catch (error) {
        expect(error).toMatchObject({ code: "CORRUPT" })
      }
    }
  }
})
