import { readdirSync, renameSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { fsck, makeWorkspace, runUserGit, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"

describe.each([{ git: false }, { git: true }])("a snapshot store (user's git: $git)", ({ git }) => {
  let work: WorkspaceFixture
  beforeEach(() => {
    work = makeWorkspace({ git })
  })
  afterEach(() => work.close())

  it("captures, restores and gives everything back, byte for byte", async () => {
    work.write("a.txt", "one\n")
    work.write("src/b.sh", "#!/bin/sh\n", 0o755)
    work.write("src/deep/er/c.bin", Buffer.from([0, 1, 2, 255]))
    work.link("to-a", "a.txt")
    work.folderAt("empty/inside")
    if (git) {
      work.git("add", "a.txt", "src")
      work.git("commit", "-qm", "first")
    }
    const before = work.picture()
    const store = await work.open()
    const first = await store.capture({ message: "first", checkpointId: "c1" })
    expect(first).toMatchObject({ base: null, skipped: [], scan: "exact" })
    work.write("a.txt", "two\nthree\n")
    work.remove("src/deep")
    work.write("new/file.txt", "x")
    work.remove("empty")
    const changed = work.picture()
    const second = await store.capture({ message: "second", checkpointId: "c2" })
    expect(second).toMatchObject({ base: first.commit, filesChanged: 3, insertions: 3, deletions: 1 })
    const outcome = await store.restore(first.commit)
    expect(outcome.failed).toEqual([])
    expect(work.picture()).toEqual(before)
    await store.restore(second.commit)
    expect(work.picture()).toEqual(changed)
    await store.consolidate()
    expect(fsck(store.directory)).toBe("")
    await store.restore(first.commit)
    expect(work.picture()).toEqual(before)
  })

  it("keeps the newest snapshot under another id too when nothing changed, if it may", async () => {
    work.write("a.txt", "one\n")
    const store = await work.open()
    const first = await store.capture({ message: "first", checkpointId: "c1" })
    const shared = await store.capture({ message: "second", checkpointId: "c2", share: true })
    expect(shared).toMatchObject({ commit: first.commit, base: null, filesChanged: 0, createdAt: first.createdAt })
    await store.capture({ message: "again", checkpointId: "c2", share: true })
    expect(Object.fromEntries(store.listCheckpoints())).toEqual({ c1: first.commit, c2: first.commit })
    expect(readdirSync(store.directory).filter((name) => name.startsWith("tmp-"))).toEqual([])
    const own = await store.capture({ message: "third", checkpointId: "c3" })
    expect(own).toMatchObject({ base: first.commit, tree: first.tree })
    expect(own.commit).not.toBe(first.commit)
    work.folderAt("empty")
    const folder = await store.capture({ message: "fourth", checkpointId: "c4", share: true })
    expect(folder.commit).not.toBe(own.commit)
    await store.gc(["c2"])
    expect((await store.readFile(first.commit, "a.txt")).toString()).toBe("one\n")
    expect(fsck(store.directory)).toBe("")
  })

  it("keeps a checkpoint's snapshot when the newest one moves on, though both were one file", async () => {
    const store = await work.open()
    const commits: Record<string, string> = {}
    for (const id of ["c1", "c2", "c3"]) {
      work.write("a.txt", `${id}\n`)
      commits[id] = (await store.capture({ message: id, checkpointId: id })).commit
    }
    expect(Object.fromEntries(store.listCheckpoints())).toEqual(commits)
    const git = (...args: string[]) => runUserGit(store.directory, work.home, args).trim()
    expect(git("rev-parse", "refs/keepup/checkpoints/c1", "refs/heads/latest").split("\n")).toEqual([
      commits["c1"],
      commits["c3"],
    ])
    expect(readdirSync(store.directory).filter((name) => name.startsWith("tmp-"))).toEqual([])
  })

  it("waits for another that holds it, also when it is opened meanwhile", async () => {
    work.write("a.txt", "one\n")
    const store = await work.open()
    const { commit } = await store.capture({ message: "first", checkpointId: "c1" })
    let letGo = () => {}
    const wanted = new Promise<void>((resolve) => {
      letGo = resolve
    })
    let isHeld = () => {}
    const held = new Promise<void>((resolve) => {
      isHeld = resolve
    })
    const restoring = store.restore(commit, {
      onPrepared: () => {
        isHeld()
        return wanted
      },
    })
    await held
    const other = await work.open()
    const order: string[] = []
    const capturing = other.capture({ message: "second", checkpointId: "c2" }).then(() => order.push("captured"))
    await new Promise((resolve) => setImmediate(resolve))
    order.push("let go")
    letGo()
    await Promise.all([restoring, capturing])
    expect(order).toEqual(["let go", "captured"])
  })

  it("counts what was just written and what is too large to be remembered", async () => {
    const lines = (count: number, text: string) => `${text}\n`.repeat(count)
    work.write("small.txt", "1\n2\n")
    work.write("large.txt", lines(200_000, "large"))
    const store = await work.open()
    await store.capture({ message: "first" })
    work.write("small.txt", "1\n2\n3\n")
    expect(await store.capture({ message: "x" })).toMatchObject({ filesChanged: 1, insertions: 1, deletions: 0 })
    work.write("small.txt", "1\n")
    work.write("large.txt", lines(200_001, "large"))
    expect(await store.capture({ message: "x" })).toMatchObject({ filesChanged: 2, insertions: 1, deletions: 2 })
  })

  it("says what differs", async () => {
    work.write("a.txt", "1\n2\n3\n")
    work.write("gone.txt", "x\n")
    work.write("old-name.txt", "same content\n")
    const store = await work.open()
    const first = await store.capture({ message: "first", checkpointId: "c1" })
    work.write("a.txt", "1\nTWO\n3\n4\n")
    work.remove("gone.txt")
    work.remove("old-name.txt")
    work.write("new-name.txt", "same content\n")
    const changes = await store.diff(first.commit, "workspace")
    expect(
      changes.map(({ path, status, from, insertions, deletions }) => ({ path, status, from, insertions, deletions })),
    ).toEqual([
      { path: "a.txt", status: "modified", from: undefined, insertions: 2, deletions: 1 },
      { path: "gone.txt", status: "deleted", from: undefined, insertions: 0, deletions: 1 },
      { path: "new-name.txt", status: "renamed", from: "old-name.txt", insertions: 0, deletions: 0 },
    ])
    const patch = (await store.patch(first.commit, "workspace")).toString()
    expect(patch).toContain("+TWO")
    expect(patch).toMatch(/^rename from old-name\.txt\nrename to new-name\.txt$/m)
    for (const path of ["old-name.txt", "new-name.txt"])
      expect((await store.patch(first.commit, "workspace", [path])).toString(), path).toContain(
        "rename from old-name.txt",
      )
    expect((await store.readFile(first.commit, "a.txt")).toString()).toBe("1\n2\n3\n")
  })

  it("writes a patch of a folder also where more came from elsewhere than a program can be asked about", async () => {
    const name = (i: number) => `${"n".repeat(240)}${i}`
    for (let i = 0; i < 9_000; i++) work.write(`before/${name(i)}`, `${i}\n`)
    const store = await work.open()
    const first = await store.capture({ message: "1", checkpointId: "1" })
    renameSync(join(work.root, "before"), join(work.root, "after"))
    const second = await store.capture({ message: "2", checkpointId: "2", exact: true })
    const patch = (await store.patch(first.commit, second.commit, ["after"])).toString()
    expect(patch).toContain(`+++ b/after/${name(8_999)}`)
  })

  it("says the same of renames in its entries as in the patch: they have another name, and not another line", async () => {
    const lines = Array.from({ length: 60 }, (_, n) => `line ${n}\n`)
    work.write("edited-before.txt", lines.join(""))
    work.write("run", "#!/bin/sh\n")
    for (const path of ["b/one.txt", "c/two.txt", "d/three.txt"]) work.write(path, "the same in all\n")
    work.write("empty", "")
    work.link("link", "the same in all\n")
    const store = await work.open()
    const { commit } = await store.capture({ message: "before", checkpointId: "c1" })
    for (const path of ["edited-before.txt", "run", "b", "c", "d", "empty", "link"]) work.remove(path)
    work.write("edited-after.txt", lines.with(30, "edited\n").join(""))
    work.write("bin/run", "#!/bin/sh\n", 0o755)
    for (const path of ["a/three.txt", "z/other.txt", "z/two.txt"]) work.write(path, "the same in all\n")
    work.write("z/void", "")
    work.write("link-as-text", "the same in all\n")
    const told = (await store.diff(commit, "workspace")).map(
      ({ status, from, path }) => `${status} ${from ?? ""} ${path}`,
    )
    expect(told).toContain("renamed d/three.txt a/three.txt")
    expect(told).toContain("added  edited-after.txt")
    const parts = (await store.patch(commit, "workspace"))
      .toString()
      .split(/^diff --git .*\n/m)
      .slice(1)
    const shown = parts.map((part) => {
      const [, from, to] = /^rename from (.*)\nrename to (.*)$/m.exec(part) ?? []
      return from === undefined ? (part.startsWith("new file") ? "added" : "deleted") : `renamed ${from} ${to}`
    })
    expect(shown.filter((one) => one.startsWith("renamed")).sort()).toEqual(
      told.filter((one) => one.startsWith("renamed")).sort(),
    )
    for (const kind of ["added", "deleted"])
      expect(
        shown.filter((one) => one === kind),
        kind,
      ).toHaveLength(told.filter((one) => one.startsWith(kind)).length)
  })
})
