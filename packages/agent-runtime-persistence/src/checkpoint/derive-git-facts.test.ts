/** What is worked out without git is what git says, or nothing. */
import { appendFileSync, chmodSync } from "node:fs"
import { join } from "node:path"
import type { GitFacts } from "@ku0/agent-runtime-core"
import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"
import type { FoundSnapshot } from "../snapshot/capture.js"
import type { SnapshotStore } from "../snapshot/snapshot-store.js"
import { deriveGitFacts } from "./derive-git-facts.js"
import { readGitFacts, readGitSignature } from "./git-facts.js"

let work: WorkspaceFixture
let store: SnapshotStore
beforeEach(async () => {
  work = makeWorkspace({ git: true })
  for (let i = 0; i < 6; i++) work.write(`d${i % 2}/f${i}.txt`, `file ${i}\n`)
  work.write("caf\xc3\xa9 \xff.txt", "bytes")
  work.write(".gitignore", "*.log\n")
  work.git("add", "-A")
  work.git("commit", "-qm", "first")
  work.write("untracked/u.txt", "u")
  work.write("loose.txt", "l")
  store = await work.open()
})
afterEach(() => work.close())

async function readFacts(): Promise<GitFacts> {
  const environment = { PATH: process.env["PATH"] }
  return (await readGitFacts({ workspacePath: work.root, environment })) as GitFacts
}

/** The facts after the change, if they can be worked out; they are then what git says. */
async function deriveAfter(change: () => void, last: GitFacts): Promise<GitFacts | undefined> {
  const signature = readGitSignature(work.root)
  change()
  let found: Pick<FoundSnapshot, "changes"> = { changes: [] }
  await store.capture({
    ...{ message: "x", exact: true, share: true },
    onFound(told) {
      found = told
    },
  })
  if (readGitSignature(work.root) !== signature) return undefined
  const derived = deriveGitFacts(work.root, last, found.changes)
  if (derived !== undefined) expect(derived).toEqual(await readFacts())
  return derived
}

async function start(): Promise<GitFacts> {
  await store.capture({ message: "start", exact: true })
  return await readFacts()
}

describe("facts are worked out", () => {
  it("when tracked files are edited, deleted and brought back, also under odd names", async () => {
    let facts = await start()
    const changes = [
      () => work.write("d0/f0.txt", "edited"),
      () => work.write("caf\xc3\xa9 \xff.txt", "other bytes"),
      () => work.remove("d1/f1.txt"),
      () => work.write("d1/f1.txt", "file 1\n"),
      () => work.write("d0/f0.txt", "file 0\n"),
      () => work.write("loose.txt", "edited, and never tracked"),
    ]
    const counts: number[] = []
    for (const change of changes) {
      facts = (await deriveAfter(change, facts)) as GitFacts
      counts.push(facts.uncommitted)
    }
    expect(counts).toEqual([1, 2, 3, 2, 1, 1])
  })

  it("when a file that was staged is put back to what the index has", async () => {
    work.write("d0/f0.txt", "staged")
    work.git("add", "d0/f0.txt")
    work.write("d0/f0.txt", "and edited again")
    const facts = await start()
    expect(await deriveAfter(() => work.write("d0/f0.txt", "staged"), facts)).toMatchObject({ uncommitted: 1 })
  })
})

describe("git is asked", () => {
  const edit = () => work.write("d0/f0.txt", "edited\r\n")
  it.each<[string, () => void, (() => void)?]>([
    ["when a file is new", () => {}, () => work.write("d0/new.txt", "x")],
    ["when an untracked file goes", () => {}, () => work.remove("loose.txt")],
    ["when rules change", () => {}, () => work.write(".gitignore", "loose.txt\n")],
    ["when a mode changes", () => {}, () => chmodSync(join(work.root, "d0/f0.txt"), 0o755)],
    ["when line ends may be converted", () => work.git("config", "core.autocrlf", "true")],
    ["when attributes may convert", () => work.write("d0/.gitattributes", "* text=auto\n")],
    ["when the repository has attributes of its own", () => work.write(".git/info/attributes", "* text\n")],
    ["when a file is hidden from git", () => work.git("update-index", "--assume-unchanged", "d0/f2.txt")],
    ["when the index is split", () => work.git("update-index", "--split-index")],
    ["in the middle of a merge with conflicts", makeConflict],
  ])("%s", async (_, prepare, change = edit) => {
    prepare()
    const facts = await start()
    expect(await deriveAfter(change, facts)).toBeUndefined()
  })

  it("when files that no snapshot holds count too", () => {
    expect(readGitSignature(work.root)).toBeTypeOf("string")
    expect(readGitSignature(join(work.root, "d0"))).toBeUndefined()
    work.write(".keepupignore", "d1\n")
    expect(readGitSignature(work.root)).toBeUndefined()
  })
})

function makeConflict(): void {
  work.git("checkout", "-qb", "other")
  work.write("d1/f1.txt", "theirs")
  work.git("commit", "-qam", "theirs")
  work.git("checkout", "-q", "main")
  work.write("d1/f1.txt", "ours")
  work.git("commit", "-qam", "ours")
  expect(() => work.git("merge", "-q", "other")).toThrow()
}

it("what is worked out along random histories is what git says", { timeout: 120_000 }, async () => {
  let facts = await start()
  let derivedCount = 0
  const files = ["d0/f0.txt", "d0/f2.txt", "d1/f1.txt", "untracked/u.txt", "loose.txt", "d0/new.txt"]
  const operation = fc.record({ path: fc.constantFrom(...files), kind: fc.integer({ min: 0, max: 11 }) })
  for (const { path, kind } of fc.sample(operation, { numRuns: 60, seed: 11 })) {
    const change = () => {
      if (kind < 5) work.write(path, `${path} ${kind}`)
      else if (kind < 7) work.write(path, `file ${path.at(-5)}\n`)
      else if (kind < 9) work.remove(path)
      else if (kind === 9) work.git("add", "-A", "d0", "d1")
      else if (kind === 10) appendFileSync(join(work.root, "loose.txt"), "more")
      else work.git("commit", "-q", "--allow-empty", "-am", "step")
    }
    const derived = await deriveAfter(change, facts)
    if (derived !== undefined) derivedCount++
    facts = derived ?? (await readFacts())
  }
  expect(derivedCount).toBeGreaterThan(20)
})
