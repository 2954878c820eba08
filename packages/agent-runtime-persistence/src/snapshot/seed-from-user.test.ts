/** Starting from the user's index: its oddities never make a snapshot wrong. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { fsck, makeWorkspace, runUserGit, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace({ git: true })
  for (let i = 0; i < 12; i++) work.write(`d${i % 3}/f${i}.txt`, `file ${i}\n`)
  work.write("a.txt", "a\n")
  work.git("add", "-A")
  work.git("commit", "-qm", "first")
})
afterEach(() => work.close())

/** The first snapshot holds exactly the workspace, and so does one after an edit. */
async function expectFaithful(root = work.root): Promise<string[]> {
  const store = await work.open({ workspacePath: root })
  const first = await store.capture({ message: "1", checkpointId: "1" })
  expect(await store.diff(first.commit, "workspace")).toEqual([])
  const copy = join(work.folder, `copy-${Math.random()}`)
  await store.writeAllTo(first.commit, copy)
  const { takePicture } = await import("../../test/snapshot/workspace-fixture.js")
  const present = new Map([...takePicture(root, false)].filter(([path]) => path !== ".git"))
  expect(takePicture(copy, false)).toEqual(present)
  expect(fsck(store.directory)).toBe("")
  return (await store.listFiles(first.commit)).map(({ path }) => path).sort()
}

it("scans with a copy of the user's index, and sees every later change all the same", async () => {
  const index = join(work.root, ".git/index")
  const later = new Date(Date.now() + 5000) // so that no file is too young to be trusted
  utimesSync(index, later, later)
  const store = await work.open()
  await store.capture({ message: "1", checkpointId: "1", exact: true })
  const [copy, ...others] = readdirSync(store.directory).filter((name) => name.startsWith("index-"))
  expect(others).toEqual([])
  expect(readFileSync(join(store.directory, copy as string)).equals(readFileSync(index))).toBe(true)
  const expectSeen = async (paths: string[]) => {
    const { commit, base } = await store.capture({ message: "x", exact: true })
    const changes = await store.diff(base as string, commit)
    expect(changes.map(({ path }) => path).sort()).toEqual(paths)
    expect(await store.diff(commit, "workspace")).toEqual([])
  }
  work.write("a.txt", "b\n")
  await expectSeen(["a.txt"])
  work.write("a.txt", "c\n")
  work.remove("d0/f0.txt")
  await expectSeen(["a.txt", "d0/f0.txt"])
  const many = Array.from({ length: 300 }, (_, i) => `many/m${i}`)
  for (const path of many) work.write(path, path)
  await expectSeen([...many].sort())
  expect(readdirSync(store.directory).filter((name) => name.startsWith("index-"))).not.toContain(copy)
  work.write("d1/f1.txt", "file 9\n")
  await expectSeen(["d1/f1.txt"])
})

it("sees a change behind assume-unchanged", async () => {
  work.git("update-index", "--assume-unchanged", "a.txt")
  work.write("a.txt", "changed behind its back\n")
  await expectFaithful()
})

it("does not hold sparse files that are not there, nor bring them back", async () => {
  work.git("sparse-checkout", "set", "--no-cone", "/*", "!/d1/")
  expect(work.exists("d1")).toBe(false)
  const names = await expectFaithful()
  expect(names.some((name) => name.startsWith("d1/"))).toBe(false)
})

it("holds intended, unmerged and staged files as they are on disk", async () => {
  work.write("intended.txt", "i")
  work.git("add", "-N", "intended.txt")
  work.git("checkout", "-qb", "other")
  work.write("a.txt", "theirs\n")
  work.git("commit", "-qam", "theirs")
  work.git("checkout", "-q", "main")
  work.write("a.txt", "ours\n")
  work.git("commit", "-qam", "ours")
  expect(() => work.git("merge", "-q", "other")).toThrow()
  expect(work.read("a.txt")).toContain("<<<<<<<")
  await expectFaithful()
})

it("reads a split index and a version 4 index", async () => {
  work.git("update-index", "--split-index")
  work.write("d0/new.txt", "n")
  work.git("add", "-A")
  await expectFaithful()
  work.git("update-index", "--no-split-index", "--index-version", "4")
  const again = makeWorkspace()
  await again.close()
  await expectFaithful()
})

it("works in a linked worktree, whose .git is a file", async () => {
  const linked = join(work.folder, "linked")
  work.git("worktree", "add", "-q", linked)
  writeFileSync(join(linked, "a.txt"), "in the worktree\n")
  await expectFaithful(linked)
})

it("does not borrow from a SHA-256 repository", async () => {
  const other = join(work.folder, "sha256")
  mkdirSync(other)
  runUserGit(other, work.home, ["init", "-q", "--object-format=sha256"])
  writeFileSync(join(other, "x"), "x")
  writeFileSync(join(other, ".gitignore"), "dist/\n")
  mkdirSync(join(other, "dist"))
  writeFileSync(join(other, "dist/tracked"), "t")
  runUserGit(other, work.home, ["add", "-f", "."])
  expect(await expectFaithful(other)).toEqual([".gitignore", "dist/tracked", "x"])
})

it("does not trust a damaged index, nor one of a repository without commits", async () => {
  writeFileSync(join(work.root, ".git/index"), "DIRCgarbage that is long enough to be looked at")
  await expectFaithful()
  work.remove(".git")
  work.git("init", "-q")
  const store = await work.open()
  await store.capture({ message: "2" })
  expect(existsSync(join(store.directory, "objects/info/alternates"))).toBe(false)
})

it.each(["HEAD:a.txt", "HEAD:d1", "HEAD^{tree}"])("reads every file when the repository has lost %s", async (lost) => {
  const index = join(work.root, ".git/index")
  const later = new Date(Date.now() + 5000) // so that no file is too young to be trusted
  utimesSync(index, later, later)
  const id = work.git("rev-parse", lost).trim()
  rmSync(join(work.root, ".git/objects", id.slice(0, 2), id.slice(2)))
  await expectFaithful()
  work.remove(".git")
  await expectFaithful()
})

it.each(["home/.config/git/attributes", "work/.git/info/attributes", "work/.gitattributes", "work/sub/.gitattributes"])(
  "reads what a filter of the same size changes, named in %s only",
  async (attributes) => {
    work.git("config", "filter.rot.clean", "tr a-z b-za")
    work.write("sub/a.rot", "hello\n")
    mkdirSync(join(work.folder, attributes, ".."), { recursive: true })
    writeFileSync(join(work.folder, attributes), "*.rot filter=rot\n")
    work.git("add", "sub/a.rot")
    expect(work.git("cat-file", "-p", ":sub/a.rot")).toBe("ifmmp\n")
    const later = new Date(Date.now() + 5000) // so that no file is too young to be trusted
    utimesSync(join(work.root, ".git/index"), later, later)
    await expectFaithful()
  },
)

it.each(["nothing can be borrowed any more", "another repository lends now"])(
  "keeps what earlier checkpoints borrow when %s",
  async (now) => {
    const useRepository = (name: string) => {
      rmSync(join(work.root, ".git"), { recursive: true })
      work.git("init", "-q", "--separate-git-dir", join(work.folder, name))
      work.git("add", "-A")
      const later = new Date(Date.now() + 60_000)
      utimesSync(join(work.folder, name, "index"), later, later)
    }
    const onStep = (step: string) => {
      if (step === "own:write") throw new Error("killed before anything was made its own")
    }
    useRepository("one.git")
    const first = await work.open({ onStep })
    const { commit } = await first.capture({ message: "1", checkpointId: "1" })
    await first.close()
    const before = work.picture()
    expect(existsSync(join(first.directory, "objects/info/alternates"))).toBe(true)
    rmSync(join(first.directory, "scan-state"))
    work.write("d0/f0.txt", "only the first repository has what this was")
    if (now.startsWith("another")) useRepository("two.git")
    else work.git("rm", "-rqf", "--cached", ".")
    const again = await work.open({ onStep })
    await again.capture({ message: "2", checkpointId: "2" })
    expect((await again.restore(commit)).failed).toEqual([])
    expect(work.picture()).toEqual(before)
    await again.close()
    await (await work.open()).consolidate()
    rmSync(join(work.folder, "one.git"), { recursive: true })
    expect(fsck(first.directory)).toBe("")
  },
)

/** As an old program would have written it: with these words for the modes. Git keeps such a tree when it is checked out. */
function commitOldTree(modes: { readonly folder: string; readonly file: string }): void {
  for (const name of ["f", "g", "h"]) work.write(`old/deep/${name}`, `${name}\n`)
  work.git("add", "-A")
  work.git("commit", "-qm", "second")
  const writeTree = (entries: readonly (readonly [string, string, string])[]) => {
    const file = join(work.folder, "tree")
    const lines = entries.flatMap(([mode, name, id]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")])
    writeFileSync(file, Buffer.concat(lines))
    return work.git("hash-object", "-t", "tree", "-w", "--literally", file).trim()
  }
  const idOf = (path: string) => work.git("rev-parse", `HEAD:${path}`).trim()
  const deep = writeTree(["f", "g", "h"].map((name) => [modes.file, name, idOf(`old/deep/${name}`)] as const))
  const old = writeTree([[modes.folder, "deep", deep]])
  const top = work
    .git("ls-tree", "HEAD")
    .trim()
    .split("\n")
    .map((line) => line.split(/[ \t]/))
  const root = writeTree(
    top.map(([mode, , id, name]) => [
      (mode as string).replace(/^0/, ""),
      name as string,
      name === "old" ? old : (id as string),
    ]),
  )
  work.git("reset", "-q", "--hard", work.git("commit-tree", root, "-m", "old").trim())
  const later = new Date(Date.now() + 60_000)
  utimesSync(join(work.root, ".git/index"), later, later) // so that no file is too young to be trusted
}

it.each([
  ["a zero in front of folders", { folder: "040000", file: "100644" }],
  ["files that a group may write", { folder: "40000", file: "100664" }],
])("holds all of a folder whose tree an old program wrote, with %s", async (_, modes) => {
  commitOldTree(modes)
  work.write("old/deep/f", "edited\n")
  const store = await work.open()
  const first = await store.capture({ message: "1", checkpointId: "1" })
  const all = ["old/deep/f", "old/deep/g", "old/deep/h"]
  const listOld = async (ref: string) => (await store.listFiles(ref)).filter(({ path }) => path.startsWith("old"))
  expect(await listOld(first.commit)).toMatchObject(all.map((path) => ({ path, mode: "100644" })))
  work.write("a.txt", "edited\n")
  const second = await store.capture({ message: "2", checkpointId: "2", exact: true })
  expect((await store.diff(first.commit, second.commit)).map(({ path }) => path)).toEqual(["a.txt"])
  expect((await store.check()).isSound).toBe(true)
  rmSync(join(work.root, "old"), { recursive: true })
  expect((await store.restore(first.commit)).failed).toEqual([])
  expect(all.map((path) => work.read(path))).toEqual(["edited\n", "g\n", "h\n"])
})

it("restores a folder whose tree an old program wrote and nobody changed", async () => {
  commitOldTree({ folder: "040000", file: "100664" })
  const store = await work.open()
  const first = await store.capture({ message: "1", checkpointId: "1" })
  rmSync(join(work.root, "old"), { recursive: true })
  expect((await store.restore(first.commit)).failed).toEqual([])
  expect(work.read("old/deep/g")).toBe("g\n")
})

/** A file, aged like the index, whose only object in the user's repository ends in zeros. */
function damageLent(content: string): void {
  work.write("lent", content)
  work.git("add", "-A")
  work.git("commit", "-qm", "second")
  const later = new Date(Date.now() + 60_000)
  utimesSync(join(work.root, ".git/index"), later, later)
  const id = work.git("rev-parse", "HEAD:lent").trim()
  const object = join(work.root, ".git/objects", id.slice(0, 2), id.slice(2))
  const bytes = readFileSync(object)
  rmSync(object)
  writeFileSync(object, bytes.fill(0, bytes.length - 12))
}

/** One snapshot by a program that ends, with all it does in the background. */
async function captureOnce(checkpointId: string) {
  let read = 0
  const onProgress = (_: number, total: number, what?: string) => {
    if (what === undefined) read = Math.max(read, total)
  }
  const store = await work.open({ onProgress })
  const snapshot = await store.capture({ message: checkpointId, checkpointId })
  await store.close()
  return { ...snapshot, read }
}

it("reads every file once more when what the repository lends is damaged", async () => {
  damageLent("only here\n".repeat(500))
  const first = await captureOnce("1")
  expect(first.owned).toBe(false)
  expect((await captureOnce("2")).read).toBeGreaterThan(12)
  expect((await captureOnce("3")).owned).toBe(true)
  const store = await work.open()
  expect((await store.check()).isSound).toBe(true)
  expect((await store.readFile(first.commit, "lent")).toString()).toBe("only here\n".repeat(500))
})

it("reads every file only once when what is damaged is in none of them any more", async () => {
  damageLent("only here\n".repeat(500))
  await captureOnce("1")
  work.write("lent", "another now\n")
  expect((await captureOnce("2")).read).toBeGreaterThan(12)
  expect((await captureOnce("3")).read).toBeLessThan(3)
  const store = await work.open()
  expect((await store.check()).damaged).toMatchObject([{ checkpoint: "1", paths: ["lent"] }])
})

it("holds the bytes on disk where the filter of a tracked file is in attributes that are left out, or no longer on disk", async () => {
  work.git("config", "filter.turn.clean", "tr a-z n-za-m")
  for (const folder of ["out", "gone"]) {
    work.write(`${folder}/.gitattributes`, "*.bin filter=turn\n")
    work.write(`${folder}/a.bin`, "as on disk\n")
  }
  work.git("add", "-A")
  work.git("commit", "-qm", "second")
  work.write(".keepupignore", ".gitattributes\n")
  work.write("gone/.gitattributes", "# none\n")
  const later = new Date(Date.now() + 60_000)
  utimesSync(join(work.root, ".git/index"), later, later)
  const store = await work.open()
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  expect((await store.readFile(commit, "out/a.bin")).toString()).toBe("as on disk\n")
  rmSync(join(work.root, ".keepupignore"))
  const other = await work.open({ stateDirectory: join(work.folder, "other") })
  const again = await other.capture({ message: "1", checkpointId: "1" })
  for (const path of ["out/a.bin", "gone/a.bin"])
    expect((await other.readFile(again.commit, path)).toString()).toBe("as on disk\n")
})
