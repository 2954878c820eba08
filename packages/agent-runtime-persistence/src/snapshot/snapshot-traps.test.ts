/** What the peers get wrong: every row of the table of traps, and every trap below it, holds here. */
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { fsck, makeWorkspace, runUserGit, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace({ git: true })
})
afterEach(() => work.close())

/** Takes a snapshot of what `before` made, lets `mutate` do its worst, restores, and compares everything. */
async function expectRoundTrip(mutate: () => void, options: { include?: string[]; ignored?: string[] } = {}) {
  const before = work.picture()
  const store = await work.open(options.include ? { capture: { include: options.include } } : {})
  const { commit } = await store.capture({ message: "before", checkpointId: "before" })
  mutate()
  const outcome = await store.restore(commit)
  expect(outcome.failed).toEqual([])
  const after = work.picture()
  for (const path of options.ignored ?? []) {
    before.delete(path)
    after.delete(path)
  }
  expect(after).toEqual(before)
  expect(fsck(store.directory)).toBe("")
  return store
}

describe("what the peers get wrong", () => {
  it("keeps a CRLF file under `* text=auto` byte for byte", async () => {
    work.write(".gitattributes", "* text=auto\n")
    work.write("dos.txt", "one\r\ntwo\r\n")
    work.git("add", "-A")
    work.git("commit", "-qm", "x")
    work.git("status", "--short")
    await expectRoundTrip(() => work.write("dos.txt", "changed\n"))
    expect(work.read("dos.txt")).toBe("one\r\ntwo\r\n")
  })

  it("keeps what filters, idents, encodings and end-of-line rules would change", async () => {
    work.git("config", "filter.rot.clean", "tr a-z b-za")
    work.git("config", "filter.rot.smudge", "tr b-za a-z")
    work.write(
      ".gitattributes",
      "*.rot filter=rot\n*.id ident\n*.u16 working-tree-encoding=UTF-16LE\n*.crlf text eol=crlf\n",
    )
    work.write("a.rot", "hello\n")
    work.write("a.id", "$Id$\n")
    work.write("a.u16", Buffer.from("héllo\n", "utf16le"))
    work.write("a.crlf", "x\r\ny\r\n")
    work.git("add", "-A")
    work.git("commit", "-qm", "x")
    await expectRoundTrip(() => {
      for (const name of ["a.rot", "a.id", "a.u16", "a.crlf"]) work.write(name, "other\n")
    })
  })

  it("brings back a deleted file, tracked or not, also across later checkpoints", async () => {
    work.write("tracked.txt", "t")
    work.git("add", "-A")
    work.git("commit", "-qm", "x")
    work.write("untracked.txt", "u")
    const before = work.picture()
    const store = await work.open()
    const { commit } = await store.capture({ message: "1", checkpointId: "1" })
    work.remove("tracked.txt")
    work.remove("untracked.txt")
    work.write("added.txt", "new")
    await store.capture({ message: "2", checkpointId: "2" })
    await store.restore(commit)
    expect(work.picture()).toEqual(before)
  })

  it("removes a file added after the snapshot", async () => {
    work.write("a", "1")
    await expectRoundTrip(() => work.write("b/c/d", "2"))
    expect(work.exists("b")).toBe(false)
  })

  it("captures a file that is ignored but tracked by the user's git", async () => {
    work.write(".gitignore", "dist/\n")
    work.write("dist/kept.js", "1")
    work.write("dist/other.js", "ignored")
    work.git("add", "-f", "dist/kept.js", ".gitignore")
    work.git("commit", "-qm", "x")
    await expectRoundTrip(() => work.write("dist/kept.js", "2"))
    expect(work.read("dist/kept.js")).toBe("1")
  })

  it("captures a file that becomes tracked later, and lets it go when it no longer is", async () => {
    work.write(".gitignore", "dist/\n")
    work.write("dist/late.js", "1")
    const store = await work.open()
    const first = await store.capture({ message: "1", checkpointId: "1" })
    expect((await store.listFiles(first.commit)).map(({ path }) => path)).toEqual([".gitignore"])
    work.git("add", "-f", "dist/late.js")
    const second = await store.capture({ message: "2", checkpointId: "2" })
    expect((await store.listFiles(second.commit)).map(({ path }) => path)).toContain("dist/late.js")
    work.write(".keepupignore", "dist/\n")
    const left = await store.capture({ message: "left out", checkpointId: "left" })
    expect((await store.listFiles(left.commit)).map(({ path }) => path)).toEqual([".gitignore", ".keepupignore"])
    work.remove(".keepupignore")
    const back = await store.capture({ message: "back", checkpointId: "back" })
    expect((await store.listFiles(back.commit)).map(({ path }) => path)).toContain("dist/late.js")
    work.git("rm", "-q", "--cached", "dist/late.js")
    const third = await store.capture({ message: "3", checkpointId: "3" })
    expect((await store.listFiles(third.commit)).map(({ path }) => path)).toEqual([".gitignore"])
    expect(work.read("dist/late.js")).toBe("1")
  })

  it("leaves a repository alone that was made after the snapshot, its files in the safety snapshot", async () => {
    work.write("a.txt", "a")
    const store = await work.open()
    const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
    work.write("lib/file.txt", "in a repository of its own")
    runUserGit(join(work.root, "lib"), work.home, ["init", "-q"])
    const someone = ["-c", "user.name=x", "-c", "user.email=x@localhost"]
    runUserGit(join(work.root, "lib"), work.home, [...someone, "add", "-A"])
    runUserGit(join(work.root, "lib"), work.home, [...someone, "commit", "-qm", "n"])
    work.write("linked/file.txt", "in a worktree")
    work.write("linked/.git", "gitdir: ../lib/.git\n")
    const look = () =>
      execFileSync("find", [
        join(work.root, "lib/.git"),
        join(work.root, "linked/.git"),
        "-type",
        "f",
        "-exec",
        "sha1sum",
        "{}",
        "+",
      ]).toString()
    const before = { git: look(), files: work.picture() }
    const { safety } = await store.restore(commit)
    expect(look()).toBe(before.git)
    expect(work.exists("lib/file.txt")).toBe(false)
    await store.restore(safety.commit)
    expect({ git: look(), files: work.picture() }).toEqual(before)
  })

  it("captures nested repositories as plain content and never their .git", async () => {
    work.write("a.txt", "a")
    work.folderAt("nested")
    runUserGit(join(work.root, "nested"), work.home, ["init", "-q"])
    work.write("nested/file.txt", "n")
    runUserGit(join(work.root, "nested"), work.home, ["-c", "user.name=x", "-c", "user.email=x@localhost", "add", "-A"])
    runUserGit(join(work.root, "nested"), work.home, [
      "-c",
      "user.name=x",
      "-c",
      "user.email=x@localhost",
      "commit",
      "-qm",
      "n",
    ])
    work.folderAt("unborn/deep")
    runUserGit(join(work.root, "unborn"), work.home, ["init", "-q"])
    work.write("unborn/deep/file.txt", "u")
    const nestedGit = () =>
      execFileSync("find", [join(work.root, "nested/.git"), "-type", "f", "-exec", "sha1sum", "{}", "+"]).toString()
    const gitBefore = nestedGit()
    const store = await expectRoundTrip(() => {
      work.write("nested/file.txt", "changed")
      work.write("nested/new.txt", "new")
      work.remove("unborn/deep")
    })
    expect(nestedGit()).toBe(gitBefore)
    const commit = store.listCheckpoints().get("before") as string
    expect((await store.listFiles(commit)).map(({ path }) => path).sort()).toEqual([
      "a.txt",
      "nested/file.txt",
      "unborn/deep/file.txt",
    ])
  })

  it("captures a submodule and a worktree whose .git is a file", async () => {
    const other = join(work.folder, "other")
    mkdirSync(other)
    runUserGit(other, work.home, ["init", "-q"])
    writeFileSync(join(other, "s.txt"), "s")
    runUserGit(other, work.home, ["add", "-A"])
    runUserGit(other, work.home, ["-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-qm", "s"])
    work.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "sub")
    work.git("commit", "-qm", "sub")
    await expectRoundTrip(() => work.write("sub/s.txt", "changed"))
    expect(work.read("sub/s.txt")).toBe("s")
  })

  it("captures files in folders other tools leave out, and large ones", async () => {
    for (const path of ["pkg/a.go", "bin/run", "vendor/x.sql", "build/y.csv", "yarn.lock", "image.png"])
      work.write(path, path)
    work.write("large.bin", Buffer.alloc(3 << 20, 7))
    await expectRoundTrip(() => {
      for (const path of ["pkg/a.go", "bin/run", "vendor/x.sql", "large.bin"]) work.write(path, "other")
    })
  })

  it("leaves ignored files alone", async () => {
    work.write(".gitignore", "*.log\nnode_modules/\n")
    work.write("a.txt", "1")
    work.write("debug.log", "before")
    work.write("node_modules/x/index.js", "before")
    const store = await work.open()
    const { commit } = await store.capture({ message: "1", checkpointId: "1" })
    work.write("a.txt", "2")
    work.write("debug.log", "after")
    work.write("new/other.log", "after")
    await store.restore(commit)
    expect(work.read("debug.log")).toBe("after")
    expect(work.read("new/other.log")).toBe("after")
    expect(work.read("node_modules/x/index.js")).toBe("before")
    expect(work.read("a.txt")).toBe("1")
  })
})

describe("names, times and links", () => {
  it("keeps names with newlines, bytes that are not UTF-8, and names git would take for patterns", async () => {
    const names = [
      "new\nline",
      'quote"back\\slash',
      "tab\there",
      "\xff\xfe bad",
      "caf\xc3\xa9",
      ":(top)x",
      "*",
      "[a]",
      "!neg",
      "#c",
      " lead",
      "trail ",
      "-dash",
      "\x7f",
    ]
    for (const name of names) {
      work.write(name, Buffer.from(`content of ${name}`, "latin1"))
      work.write(`d\xff/${name}`, "inner")
    }
    const store = await expectRoundTrip(() => {
      for (const name of names) work.remove(name)
      work.write("d\xff/*", "changed")
    })
    const commit = store.listCheckpoints().get("before") as string
    expect((await store.readFile(commit, "café")).toString("latin1")).toBe("content of caf\xc3\xa9")
    expect((await store.readFile(commit, "\\xff\\xfe bad")).toString("latin1")).toBe("content of \xff\xfe bad")
  })

  it("keeps names as long as the system allows", async () => {
    const plain = "n".repeat(255)
    const bytes = "\xff".repeat(255)
    work.write(plain, "1")
    work.write(`${bytes}/${plain}`, "2")
    work.link("l".repeat(255), "x".repeat(4000))
    await expectRoundTrip(() => {
      work.write(plain, "changed")
      work.remove(bytes)
      work.write(bytes, "a file now")
      work.remove("l".repeat(255))
    })
  })

  it("notices an edit of the same size within the same moment, also with its time set back", async () => {
    work.write("racy.txt", "aaaa")
    const store = await work.open()
    await store.capture({ message: "0" })
    const past = new Date(Date.now() - 3_600_000)
    for (let round = 0; round < 12; round++) {
      const content = `${round}`.padStart(4, "x")
      work.write("racy.txt", content)
      if (round % 2 === 0) utimesSync(join(work.root, "racy.txt"), past, past)
      const { commit } = await store.capture({ message: "r" })
      expect((await store.readFile(commit, "racy.txt")).toString()).toBe(content)
    }
  })

  it("seeds from the user's index without believing it about files touched in the same second", async () => {
    work.write("racy.txt", "aaaa")
    work.git("add", "-A")
    work.git("commit", "-qm", "x")
    work.write("racy.txt", "bbbb")
    const store = await work.open()
    const { commit } = await store.capture({ message: "1" })
    expect((await store.readFile(commit, "racy.txt")).toString()).toBe("bbbb")
  })

  it("keeps links as links and never writes through them", async () => {
    const outside = join(work.folder, "outside")
    mkdirSync(outside)
    writeFileSync(join(outside, "secret"), "outside")
    work.write("dir/file", "inside")
    work.link("dangling", "nowhere")
    work.link("to-outside", outside)
    await expectRoundTrip(() => {
      work.remove("dir")
      work.link("dir", outside)
      writeFileSync(join(outside, "file"), "must stay")
    })
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("must stay")
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("outside")
  })
})

describe("the user's own rules", () => {
  it("honours core.excludesFile, its default place, .git/info/exclude and .keepupignore", async () => {
    mkdirSync(join(work.home, ".config/git"), { recursive: true })
    writeFileSync(join(work.home, ".config/git/ignore"), "*.secret\n")
    work.write("a.secret", "s")
    appendFileSync(join(work.root, ".git/info/exclude"), "local-only\n")
    work.write("local-only", "l")
    work.write(".keepupignore", "# comment\nbig/\n*.tmp\n!keep.tmp\n")
    work.write("big/data", "b")
    work.write("x.tmp", "x")
    work.write("keep.tmp", "k")
    work.write("kept", "k")
    const store = await work.open()
    const { commit } = await store.capture({ message: "1" })
    const names = (await store.listFiles(commit)).map(({ path }) => path).sort()
    expect(names).toEqual([".keepupignore", "keep.tmp", "kept"])
    writeFileSync(join(work.home, "my-ignores"), "kept\n")
    work.git("config", "core.excludesFile", join(work.home, "my-ignores"))
    const other = await work.open()
    const again = await other.capture({ message: "2" })
    const left = [".keepupignore", "a.secret", "keep.tmp"]
    expect((await other.listFiles(again.commit)).map(({ path }) => path).sort()).toEqual(left)
    for (const path of ["~/my-ignores", "../home/my-ignores"]) {
      work.git("config", "core.excludesFile", path)
      const named = await work.open()
      const { commit: latest } = await named.capture({ message: path })
      expect((await named.listFiles(latest)).map((file) => file.path).sort()).toEqual(left)
    }
  })

  it("captures ignored files that are asked for, and only those", async () => {
    work.write(".gitignore", ".env\ndist/\ncache/\n")
    work.write(".env", "A=1")
    work.write("app/.env", "B=1")
    work.write("dist/deep/a.js", "a")
    work.write("dist/b.js", "b")
    work.write("cache/c", "c")
    const store = await work.open({ capture: { include: [".env", "dist/**"] } })
    const { commit } = await store.capture({ message: "1", checkpointId: "1" })
    const names = (await store.listFiles(commit)).map(({ path }) => path).sort()
    expect(names).toEqual([".env", ".gitignore", "app/.env", "dist/b.js", "dist/deep/a.js"])
    work.write("dist/b.js", "changed")
    work.write("dist/new/n.js", "n")
    const second = await store.capture({ message: "2", checkpointId: "2" })
    expect(second.filesChanged).toBe(2)
    await store.restore(commit)
    expect(work.read("dist/b.js")).toBe("b")
    expect(work.exists("dist/new/n.js")).toBe(false)
    expect(work.read("cache/c")).toBe("c")
  })

  it("follows a changed .gitignore, and a restore never overwrites what the safety snapshot does not hold", async () => {
    work.write("config.json", "captured")
    const store = await work.open()
    const first = await store.capture({ message: "1", checkpointId: "1" })
    work.write(".gitignore", "config.json\n")
    work.write("config.json", "now ignored, edited")
    const second = await store.capture({ message: "2", checkpointId: "2" })
    expect((await store.listFiles(second.commit)).map(({ path }) => path)).toEqual([".gitignore"])
    const outcome = await store.restore(first.commit)
    expect(work.read("config.json")).toBe("captured")
    expect((await store.readFile(outcome.safety.commit, "config.json")).toString()).toBe("now ignored, edited")
    work.remove(".gitignore")
    const third = await store.capture({ message: "3", checkpointId: "3" })
    expect((await store.listFiles(third.commit)).map(({ path }) => path)).toEqual(["config.json"])
  })

  it("takes nothing away that the rules of then left out, nor does an undo", async () => {
    work.write("a", "1")
    const store = await work.open({ capture: { include: ["asked-for"] } })
    const without = await store.capture({ message: "no rules yet", checkpointId: "0" })
    work.write("brought.log", "of the first")
    const brought = await store.capture({ message: "still none", checkpointId: "1" })
    work.remove("brought.log")
    work.write(".gitignore", ".env\n/build/\n*.log\nasked-for\n")
    work.write("sub/.gitignore", "private\n")
    work.write(".keepupignore", "big/\n")
    for (const path of [".env", "build/deep/out", "sub/private", "big/data"]) work.write(path, "never captured")
    const ruled = await store.capture({ message: "rules", checkpointId: "2" })
    const before = work.picture()
    // Going back to where there were no rules, and forward again: what was there all the time stays.
    const outcome = await store.restore(without.commit)
    expect(work.exists(".gitignore")).toBe(false)
    for (const path of ["new", "asked-for", "build/later"]) work.write(path, "made now")
    const again = await store.restore(ruled.commit)
    expect(again.plan.delete).toEqual(["asked-for", "new"])
    const left = [".env", "big/data", "build/deep/out", "build/later", "sub/private"]
    expect(again.plan.notCaptured).toEqual(left.map((path) => ({ path, reason: "ignored" })))
    work.remove("build/later")
    expect(work.picture()).toEqual(before)
    expect(outcome.failed).toEqual([])
    // What a restore brought, its undo takes away, whatever the rules say of it.
    const bringing = await store.restore(brought.commit)
    expect(work.read("brought.log")).toBe("of the first")
    await store.restore(bringing.safety.commit, { undoes: brought.commit })
    expect(work.picture()).toEqual(before)
    // Broken off at its very end, a restore is taken back the same way, and an undo finished.
    const stop = { onApplied: () => Promise.reject(new Error("cut off")) }
    await expect(store.restore(brought.commit, stop)).rejects.toThrow("cut off")
    for (const journal of store.listUnfinishedRestores()) await store.takeBackRestore(journal)
    expect(work.picture()).toEqual(before)
    const { safety } = await store.restore(brought.commit)
    await expect(store.restore(safety.commit, { ...stop, undoes: brought.commit })).rejects.toThrow("cut off")
    work.write("brought.log", "of the first") // as if it had come no further than this
    work.remove(".gitignore")
    for (const journal of store.listUnfinishedRestores()) await store.finishRestore(journal)
    expect(work.picture()).toEqual(before)
  })

  it("uses the rules of a repository around the workspace", async () => {
    work.write(".gitignore", "*.log\n/app/out/\n")
    work.write("app/a.txt", "a")
    work.write("app/x.log", "x")
    work.write("app/out/o", "o")
    work.git("add", "-A")
    work.git("commit", "-qm", "x")
    const store = await work.open({ workspacePath: join(work.root, "app") })
    const { commit } = await store.capture({ message: "1", checkpointId: "1" })
    expect((await store.listFiles(commit)).map(({ path }) => path)).toEqual(["a.txt"])
    work.write("app/a.txt", "b")
    await store.restore(commit)
    expect(work.read("app/a.txt")).toBe("a")
  })
})

describe("special and difficult files", () => {
  it("skips what is too large, and says so; a restore leaves it alone", async () => {
    work.write("a", "1")
    work.write("huge.bin", Buffer.alloc(5000))
    const store = await work.open({ capture: { maxFileSize: 4096 } })
    const first = await store.capture({ message: "1", checkpointId: "1" })
    expect(first.skipped).toEqual([{ path: "huge.bin", reason: "too-large" }])
    const second = await store.capture({ message: "2", checkpointId: "2" })
    expect(second.skipped).toEqual(first.skipped)
    work.write("a", "2")
    const outcome = await store.restore(first.commit)
    expect(outcome.plan.notCaptured).toEqual([{ path: "huge.bin", reason: "too-large" }])
    expect(work.read("huge.bin").length).toBe(5000)
    work.write("huge.bin", "small now")
    const third = await store.capture({ message: "3", checkpointId: "3" })
    expect(third.skipped).toEqual([])
    await store.restore(first.commit)
    expect(work.read("huge.bin")).toBe("small now")
  })

  it("skips pipes and sockets, and says so", async () => {
    work.write("a", "1")
    work.write("was-file", "1")
    execFileSync("mkfifo", [join(work.root, "pipe")])
    const server = createServer().listen(join(work.root, "socket"))
    await once(server, "listening")
    try {
      const store = await work.open()
      const snapshot = await store.capture({ message: "1", checkpointId: "1" })
      const special = ["pipe", "socket"].map((path) => ({ path, reason: "special" }))
      expect(snapshot.skipped).toEqual(special)
      work.write("a", "2")
      work.remove("was-file")
      execFileSync("mkfifo", [join(work.root, "was-file")])
      const outcome = await store.restore(snapshot.commit)
      expect(outcome.plan.notCaptured).toEqual([...special, { path: "was-file", reason: "special" }])
      expect([work.read("a"), ...["pipe", "socket", "was-file"].map((path) => work.picture().get(path))]).toEqual([
        "1",
        ...Array.from({ length: 3 }, () => "special"),
      ])
    } finally {
      server.close()
    }
  })

  it("is not held up by pipes in the place of files it reads the rules from", async () => {
    work.write("a", "1")
    work.remove(".git/info/exclude")
    for (const path of [".keepupignore", ".git/info/exclude"]) execFileSync("mkfifo", [join(work.root, path)])
    const store = await work.open()
    const snapshot = await store.capture({ message: "1", checkpointId: "1" })
    expect(snapshot.skipped).toEqual([{ path: ".keepupignore", reason: "special" }])
    expect((await store.listFiles(snapshot.commit)).map(({ path }) => path)).toEqual(["a"])
    // Git itself would wait for this one, so nothing in the folder can be asked about.
    work.write("folder/inside/b", "1")
    execFileSync("mkfifo", [join(work.root, "folder/.gitignore")])
    for (const id of ["2", "3"]) {
      work.write("a", id)
      const blocked = await store.capture({ message: id, checkpointId: id })
      expect(blocked.skipped).toContainEqual({ path: "folder", reason: "unreadable" })
      expect((await store.listFiles(blocked.commit)).map(({ path }) => path)).toEqual(["a"])
    }
    work.remove("folder/.gitignore")
    const { commit } = await store.capture({ message: "4", checkpointId: "4" })
    expect((await store.listFiles(commit)).map(({ path }) => path)).toEqual(["a", "folder/inside/b"])
    await store.restore(store.listCheckpoints().get("3") as string)
    expect([work.read("a"), work.read("folder/inside/b")]).toEqual(["3", "1"])
  })

  it("keeps the executable bit and a file's other permissions", async () => {
    work.write("script", "#!/bin/sh\n", 0o755)
    work.write("secret", "s", 0o600)
    await expectRoundTrip(() => {
      chmodSync(join(work.root, "script"), 0o644)
      work.write("secret", "changed")
    })
    expect(work.picture().get("script")).toMatch(/^file x/)
    expect(
      execFileSync("stat", ["-c", "%a", join(work.root, "secret")])
        .toString()
        .trim(),
    ).toBe("600")
  })

  it("keeps empty folders, and files that become folders and back", async () => {
    work.folderAt("empty/very")
    work.write("was-file", "f")
    work.write("was-folder/inner/x", "x")
    await expectRoundTrip(() => {
      work.remove("empty")
      work.remove("was-file")
      work.write("was-file/now/folder", "y")
      work.remove("was-folder")
      work.write("was-folder", "now a file")
      work.folderAt("other-empty")
    })
  })
})
