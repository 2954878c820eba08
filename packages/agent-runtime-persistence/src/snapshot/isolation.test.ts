/** Nothing of the user's git reaches us, and nothing of ours reaches the user's git. */
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import {
  fsck,
  makeWorkspace,
  runUserGit,
  takePicture,
  type WorkspaceFixture,
} from "../../test/snapshot/workspace-fixture.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace({ git: true })
  work.write("a.txt", "one\n")
  work.write("src/b.txt", "two\n")
  work.git("add", "-A")
  work.git("commit", "-qm", "first")
})
afterEach(() => work.close())

const userGit = () => takePicture(join(work.root, ".git"), true)

describe("the user's repository", () => {
  it("is byte for byte what it was after every operation", async () => {
    work.write("staged.txt", "s")
    work.git("add", "staged.txt")
    work.write("a.txt", "stashed")
    work.git("stash", "push", "-q", "a.txt")
    const before = userGit()
    const store = await work.open()
    const { commit } = await store.capture({ message: "1", checkpointId: "1" })
    work.write("a.txt", "two")
    work.write("new", "n")
    await store.diff(commit, "workspace")
    await store.patch(commit, "workspace")
    await store.planRestore(commit)
    await store.restore(commit)
    await store.consolidate()
    await store.gc(["1"])
    await store.check()
    await store.repair()
    await store.writeAllTo(commit, join(work.folder, "copy"))
    await store.close()
    expect(userGit()).toEqual(before)
  })

  it("is not reached through GIT_* variables of the caller", async () => {
    const before = userGit()
    const poison = Object.fromEntries(["GIT_DIR", "GIT_COMMON_DIR"].map((name) => [name, join(work.root, ".git")]))
    const store = await work.open({
      environment: {
        PATH: process.env.PATH,
        ...poison,
        GIT_WORK_TREE: "/",
        GIT_INDEX_FILE: join(work.root, ".git/index"),
        GIT_OBJECT_DIRECTORY: join(work.root, ".git/objects"),
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "core.hooksPath",
        GIT_CONFIG_VALUE_0: "/nowhere",
        GIT_CONFIG_PARAMETERS: "'broken",
        GIT_LITERAL_PATHSPECS: "1",
        GIT_TRACE: join(work.folder, "trace"),
      },
    })
    work.write("a.txt", "changed")
    const { commit } = await store.capture({ message: "1", checkpointId: "1" })
    await store.consolidate()
    expect((await store.readFile(commit, "a.txt")).toString()).toBe("changed")
    expect(userGit()).toEqual(before)
    expect(existsSync(join(work.folder, "trace"))).toBe(false)
    expect(fsck(store.directory)).toBe("")
  })

  it("may be locked by a git that was killed: the lock holds nobody up and stays", async () => {
    for (const name of ["index.lock", "HEAD.lock", "packed-refs.lock"]) work.write(`.git/${name}`, "")
    const before = userGit()
    const store = await work.open()
    const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
    work.write("later.txt", "later")
    await store.capture({ message: "2", checkpointId: "c2" })
    await store.consolidate()
    await store.restore(commit)
    expect(work.exists("later.txt")).toBe(false)
    expect(userGit()).toEqual(before)
  })

  it("has no hooks, templates, signing or settings that reach us", async () => {
    const ran = join(work.folder, "hook-ran")
    const hooks = join(work.home, "hooks")
    mkdirSync(hooks)
    for (const name of ["pre-commit", "post-index-change", "reference-transaction", "post-commit", "fsmonitor"]) {
      writeFileSync(join(hooks, name), `#!/bin/sh\ntouch ${ran}\nexit 1\n`)
      chmodSync(join(hooks, name), 0o755)
    }
    const template = join(work.home, "template")
    mkdirSync(join(template, "info"), { recursive: true })
    writeFileSync(join(template, "info/exclude"), "*\n")
    const global = (name: string, value: string) =>
      runUserGit(work.root, work.home, ["config", "--global", name, value])
    global("core.hooksPath", hooks)
    global("core.fsmonitor", join(hooks, "fsmonitor"))
    global("init.templateDir", template)
    global("commit.gpgSign", "true")
    global("gpg.program", "/bin/false")
    global("core.autocrlf", "true")
    global("status.showUntrackedFiles", "no")
    global("core.quotePath", "true")
    global("diff.external", "/bin/false")
    work.write("dos.txt", "a\r\nb\n")
    work.write("untracked.txt", "u")
    const before = work.picture()
    const store = await work.open()
    const { commit } = await store.capture({ message: "1", checkpointId: "1" })
    for (const path of ["dos.txt", "untracked.txt", "a.txt"]) work.write(path, "changed\n")
    expect((await store.patch(commit, "workspace")).toString()).toContain("+changed")
    await store.restore(commit)
    await store.consolidate()
    await store.gc(["1"])
    expect(work.picture()).toEqual(before)
    expect(existsSync(ran)).toBe(false)
  })
})

describe("objects borrowed from the user's repository", () => {
  it.each(["gc", "reset", "delete"])("are the store's own afterwards: %s", async (how) => {
    for (let i = 0; i < 20; i++) work.write(`lots/f${i}`, `${i}\n`)
    work.git("add", "-A")
    work.git("commit", "-qm", "second")
    const before = work.picture()
    const store = await work.open()
    const first = await store.capture({ message: "1", checkpointId: "1" })
    expect(first.owned).toBe(false)
    await store.close()
    if (how === "delete") work.remove(".git")
    else {
      work.git("reset", "-q", "--hard", "HEAD~1")
      work.git("reflog", "expire", "--expire=now", "--all")
      work.git("gc", "-q", "--prune=now")
    }
    work.remove("lots")
    const reopened = await work.open()
    expect((await reopened.capture({ message: "2", checkpointId: "2" })).owned).toBe(true)
    await reopened.restore(first.commit)
    expect(work.picture()).toEqual(before)
    expect(fsck(reopened.directory)).toBe("")
    expect(existsSync(join(reopened.directory, "objects/info/alternates"))).toBe(false)
  })
})

it("opens only where it should", async () => {
  const { home } = work
  for (const name of ["Desktop", "Documents", "Downloads"]) mkdirSync(join(home, name))
  const refused = ["/", home, ...["Desktop", "Documents", "Downloads"].map((name) => join(home, name)), work.state]
  for (const workspacePath of refused) {
    await expect(work.open({ workspacePath })).rejects.toMatchObject({ code: "INVALID_INPUT" })
  }
  await expect(work.open({ workspacePath: join(work.folder, "nothing") })).rejects.toMatchObject({ code: "NOT_FOUND" })
})

it("is bound to one workspace, and can be bound again after a move", async () => {
  const storeDirectory = join(work.state, "one")
  const store = await work.open({ storeDirectory })
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  await store.close()
  const moved = join(work.folder, "moved")
  mkdirSync(moved)
  await expect(work.open({ storeDirectory, workspacePath: moved })).rejects.toMatchObject({ code: "INVALID_INPUT" })
  const rebound = await work.open({ storeDirectory, workspacePath: moved, rebind: true })
  await rebound.restore(commit)
  expect(takePicture(moved, false)).toEqual(work.picture())
  writeFileSync(join(storeDirectory, "keepup.json"), JSON.stringify({ version: 99, workspace: moved }))
  await expect(work.open({ storeDirectory, workspacePath: moved })).rejects.toMatchObject({ code: "STORE_TOO_NEW" })
})

describe("a workspace that is gone", () => {
  const isMissing = { code: "NOT_FOUND", message: expect.stringContaining("There is no workspace at") }
  const away = () => renameSync(work.root, `${work.root}-moved`)
  const back = () => renameSync(`${work.root}-moved`, work.root)
  let commit: string
  beforeEach(async () => {
    const first = await work.open()
    commit = (await first.capture({ message: "1", checkpointId: "1" })).commit
    await first.close() // with all it borrowed from the user's repository
  })

  it("can be read, and is not taken for one whose files were deleted", async () => {
    const before = work.picture()
    const store = await work.open()
    away()
    await expect(store.capture({ message: "2", checkpointId: "2" })).rejects.toMatchObject(isMissing)
    await store.close()
    const gone = await work.open()
    expect(gone.isGone).toBe(true)
    expect((await gone.listFiles(commit)).length).toBeGreaterThan(0)
    expect(await gone.watch()).toBe(false)
    await expect(gone.capture({ message: "2", checkpointId: "2" })).rejects.toMatchObject(isMissing)
    await expect(gone.restore(commit)).rejects.toMatchObject(isMissing)
    await expect(gone.diff(commit, "workspace")).rejects.toMatchObject(isMissing)
    expect([...gone.listCheckpoints().keys()]).toEqual(["1"])
    expect(existsSync(work.root)).toBe(false)
    back()
    // It knows nothing of the rules that hold there.
    await expect(gone.restore(commit)).rejects.toMatchObject(isMissing)
    const again = await work.open()
    expect(again.isGone).toBe(false)
    await again.restore(commit)
    expect(work.picture()).toEqual(before)
  })

  it.each(["capture:scan", "capture:hash", "both"])("while it is looked at fails the snapshot: %s", async (step) => {
    let isArmed = false
    const store = await work.open({
      onStep(name) {
        if (!isArmed) return
        if (name === step || (step === "both" && name === "capture:scan")) away()
        if (step === "both" && name === "capture:hash") back()
      },
    })
    await store.watch()
    await store.capture({ message: "2", exact: true })
    await store.capture({ message: "3", exact: true })
    work.write("new.txt", "new")
    isArmed = true
    await expect(store.capture({ message: "4", exact: true })).rejects.toMatchObject(isMissing)
    isArmed = false
    if (!existsSync(work.root)) back()
    const { commit: next } = await store.capture({ message: "5" })
    const names = (await store.listFiles(next)).map(({ path }) => path)
    expect(names).toEqual(
      expect.arrayContaining(["new.txt", ...(await store.listFiles(commit)).map(({ path }) => path)]),
    )
  })

  it("can be read although the store's note of whose it is was damaged, or a link is in its place", async () => {
    away()
    const [name] = readdirSync(join(work.state, "snapshots"))
    const note = join(work.state, "snapshots", name as string, "keepup.json")
    writeFileSync(note, "{")
    expect((await (await work.open()).listFiles(commit)).length).toBeGreaterThan(0)
    rmSync(note)
    expect((await (await work.open()).listFiles(commit)).length).toBeGreaterThan(0)
    symlinkSync(`${work.root}-moved`, work.root)
    const linked = await work.open()
    expect((await linked.listFiles(commit)).length).toBeGreaterThan(0)
    const leads = { code: "NOT_FOUND", message: expect.stringContaining(`a link leads to ${work.root}-moved`) }
    await expect(linked.capture({ message: "2" })).rejects.toMatchObject(leads)
    const moved = await work.open({ workspacePath: `${work.root}-moved` })
    expect(moved.isGone).toBe(false)
  })

  it("is not what a link leads to that took its place under an open store", async () => {
    const store = await work.open()
    const other = join(work.folder, "other")
    mkdirSync(other)
    writeFileSync(join(other, "theirs.txt"), "theirs")
    away()
    symlinkSync(other, work.root)
    await expect(store.capture({ message: "2" })).rejects.toMatchObject({ code: "NOT_FOUND" })
    await expect(store.restore(commit)).rejects.toMatchObject({ code: "NOT_FOUND" })
    expect(readdirSync(other)).toEqual(["theirs.txt"])
  })
})

it("says UNAVAILABLE where there is no git", async () => {
  await expect(work.open({ git: "/nowhere/git" })).rejects.toMatchObject({ code: "UNAVAILABLE" })
})
