import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { takePicture } from "../testing/workspace-picture.js"
import { createCheckpointManager } from "./checkpoint-manager.js"
import { readGitFacts } from "./git-facts.js"

const environment = { PATH: process.env["PATH"] }

let travel: TimeTravelFixture
beforeEach(async () => {
  travel = await openFixture({ withGit: true })
})
afterEach(() => travel.close())

const facts = (workspacePath = travel.workspace) => readGitFacts({ workspacePath, environment })

/** main with one commit, and a branch `side` that changed the same line. */
function twoSides(): void {
  travel.write({ "a.txt": "one\n" })
  travel.git("add", "a.txt")
  travel.git("commit", "-qm", "one")
  travel.git("checkout", "-qb", "side")
  travel.write({ "a.txt": "side\n" })
  travel.git("commit", "-qam", "side")
  travel.git("checkout", "-q", "main")
  travel.write({ "a.txt": "main\n" })
  travel.git("commit", "-qam", "main")
}

function gitFails(...args: string[]): void {
  expect(() => travel.git(...args)).toThrow()
}

describe("git facts", () => {
  it("do not count what a restore has beside the user's files while it is under way", async () => {
    twoSides()
    travel.write({ ".keepup-restore-x/0": "staged", "mine.txt": "?" })
    expect(await facts()).toMatchObject({ uncommitted: 0, untracked: 1 })
  })

  it("tell branch, head, what is not committed and what git does not know", async () => {
    twoSides()
    travel.write({ "a.txt": "edited", "staged.txt": "new", "unknown one.txt": "?", "folder/unknown.txt": "?" })
    travel.git("add", "staged.txt")
    expect(await facts()).toEqual({
      branch: "main",
      head: travel.git("rev-parse", "HEAD").trim(),
      uncommitted: 2,
      untracked: 2,
      operation: null,
    })
  })

  it("tell of a repository without commits, and of a detached head", async () => {
    travel.write({ "a.txt": "a" })
    expect(await facts()).toEqual({ branch: "main", head: null, uncommitted: 0, untracked: 1, operation: null })
    twoSides()
    travel.git("checkout", "-q", "--detach")
    expect(await facts()).toMatchObject({
      branch: null,
      head: expect.stringMatching(/^[0-9a-f]{40}$/),
      operation: null,
    })
  })

  it("tell of a merge, a rebase, a cherry-pick, a revert and a bisect in the middle", async () => {
    twoSides()
    gitFails("merge", "-q", "side")
    expect(await facts()).toMatchObject({ branch: "main", operation: "merge", uncommitted: 1 })
    travel.git("merge", "--abort")
    gitFails("rebase", "-q", "side")
    expect(await facts()).toMatchObject({ branch: "main", operation: "rebase" })
    travel.git("rebase", "--abort")
    gitFails("cherry-pick", "side")
    expect(await facts()).toMatchObject({ branch: "main", operation: "cherry-pick" })
    travel.git("cherry-pick", "--abort")
    gitFails("revert", "--no-edit", "HEAD~1")
    expect(await facts()).toMatchObject({ operation: "revert" })
    travel.git("revert", "--abort")
    travel.git("bisect", "start")
    expect(await facts()).toMatchObject({ operation: "bisect" })
    travel.git("bisect", "reset")
    expect(await facts()).toMatchObject({ branch: "main", operation: null })
  })

  it("are those of the worktree, and of the repository around a subfolder", async () => {
    twoSides()
    const linked = join(travel.workspace, "..", "linked")
    travel.git("worktree", "add", "-q", linked, "side")
    writeFileSync(join(linked, "only here.txt"), "?")
    expect(await facts(linked)).toMatchObject({ branch: "side", untracked: 1, uncommitted: 0, operation: null })
    mkdirSync(join(travel.workspace, "sub"))
    expect(await facts(join(travel.workspace, "sub"))).toMatchObject({ branch: "main", untracked: 0 })
  })

  it("are null where there is no repository, or only something that looks like one", async () => {
    rmSync(join(travel.workspace, ".git"), { recursive: true })
    expect(await facts()).toBeNull()
    travel.write({ ".git": "gitdir: /nowhere\n" })
    expect(await facts()).toBeNull()
  })

  it("leave the repository byte for byte as it is, times included, also when its index is stale", async () => {
    twoSides()
    writeFileSync(join(travel.workspace, "a.txt"), "main\n") // same content, new times: git would like to refresh
    const before = takePicture(travel.workspace, { withTimes: true })
    await facts()
    expect(takePicture(travel.workspace, { withTimes: true })).toEqual(before)
  })

  it("hear nothing of the caller's GIT variables, and say when there is no git", async () => {
    twoSides()
    const misled = { ...environment, GIT_DIR: "/nowhere", GIT_INDEX_FILE: "/nowhere/index", GIT_WORK_TREE: "/" }
    expect(await readGitFacts({ workspacePath: travel.workspace, environment: misled })).toMatchObject({
      branch: "main",
    })
    await expect(
      readGitFacts({ workspacePath: travel.workspace, environment, program: "/nowhere/git" }),
    ).rejects.toMatchObject({ code: "UNAVAILABLE" })
  })

  it("are given up when git hangs, or what it started does, and the checkpoint is kept and says so", async () => {
    for (const [name, script] of [
      ["hangs", "exec sleep 30"],
      ["leaves a child behind", "sleep 3"],
    ] as const) {
      const program = join(travel.stateDirectory, `git ${name}`)
      writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
      const limited = { workspacePath: travel.workspace, environment, program, timeLimitMs: 50 }
      await expect(readGitFacts(limited)).rejects.toMatchObject({ code: "UNAVAILABLE" })
      const manager = createCheckpointManager({ store: travel.store, gitFacts: () => readGitFacts(limited) })
      const session = await travel.createSession(name)
      const kept = await manager.take({ sessionId: session.id, trigger: "manual" })
      expect(kept).toMatchObject({ git: null, metadata: { gitError: { code: "UNAVAILABLE" } } })
      const [line] = await travel.store.sessions.listLogs(session.id)
      expect(line?.message).toContain("git status did not answer")
    }
  })

  it("stop at once when whoever asked for them does not want them any more", async () => {
    const program = join(travel.stateDirectory, "git hangs")
    writeFileSync(program, "#!/bin/sh\nexec sleep 30\n", { mode: 0o755 })
    const stop = new AbortController()
    const reading = readGitFacts({ workspacePath: travel.workspace, environment, program, signal: stop.signal })
    stop.abort()
    await expect(reading).rejects.toMatchObject({ code: "CANCELLED" })
    const late = { workspacePath: travel.workspace, environment, program, signal: stop.signal }
    await expect(readGitFacts(late)).rejects.toMatchObject({ code: "CANCELLED" })
  })
})
