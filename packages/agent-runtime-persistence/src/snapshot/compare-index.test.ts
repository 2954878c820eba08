/** What git's own comparison of files with an index names, ours names too. */
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"
import { findStale } from "./compare-index.js"
import { createWorkspaceFiles } from "./workspace-files.js"

let work: WorkspaceFixture
let indexFile: string
beforeEach(() => {
  work = makeWorkspace({ git: true })
  indexFile = join(work.root, ".git/index")
})
afterEach(() => work.close())

const ours = (marks = new Map<string, boolean>()) =>
  findStale(createWorkspaceFiles(work.root, 1 << 20), indexFile, 60, marks)
const gits = () => work.git("diff-files", "--name-only", "-z").split("\0").slice(0, -1)
const at = (path: string) => join(work.root, path)

/** An index that is surely younger than its files, as it is some seconds after they were written. */
function addAll(): void {
  work.git("add", "-A")
  const later = new Date(Date.now() + 60_000)
  utimesSync(indexFile, later, later)
}

function fill(): void {
  for (let i = 0; i < 40; i++) work.write(`d${i % 4}/f${i}.txt`, `content ${i}`)
  work.write("empty", "")
  work.write("run.sh", "#!/bin/sh\n", 0o755)
  work.write("caf\xc3\xa9 \xff.txt", "bytes")
  work.link("link", "d0")
  addAll()
}

it("names nothing when nothing changed", () => {
  fill()
  expect(gits()).toEqual([])
  expect(ours()).toEqual([])
})

it("names what was edited, touched, made executable, replaced, removed or hidden behind a link", () => {
  fill()
  writeFileSync(at("d0/f0.txt"), "Content 0")
  utimesSync(at("d0/f0.txt"), 1_700_000_000, 1_700_000_000) // or it may have the very times it had
  writeFileSync(at("d0/f4.txt"), "longer than before")
  utimesSync(at("d0/f8.txt"), 1_600_000_000, 1_600_000_000)
  chmodSync(at("d1/f1.txt"), 0o755)
  chmodSync(at("run.sh"), 0o644)
  rmSync(at("d1/f5.txt"))
  rmSync(at("d1/f9.txt"))
  mkdirSync(at("d1/f9.txt"))
  rmSync(at("d1/f13.txt"))
  symlinkSync("f1.txt", at("d1/f13.txt"))
  rmSync(at("link"))
  symlinkSync("d1", at("link"))
  writeFileSync(at("empty"), "no more")
  renameSync(at("d2"), at("moved"))
  symlinkSync("moved", at("d2"))
  renameSync(at("d3"), at("d3.old"))
  writeFileSync(at("d3"), "a file now")
  const named = gits()
  expect(named.length).toBeGreaterThan(28)
  expect(ours()).toEqual(expect.arrayContaining(named))
  expect(ours()).not.toContain("d0/f12.txt")
})

it("takes no folder for real that is below a link, though it looks like one", () => {
  work.write("deep/inner/file.txt", "content")
  fill()
  const files = createWorkspaceFiles(work.root, 1 << 20)
  expect(findStale(files, indexFile, 60, new Map())).toEqual([])
  expect(files.lookAtFolder("deep/inner")).toMatchObject({ ino: lstatSync(at("deep/inner")).ino })
  renameSync(at("deep"), at("elsewhere"))
  symlinkSync("elsewhere", at("deep"))
  files.refresh()
  expect(findStale(files, indexFile, 60, new Map())).toEqual(["deep/inner/file.txt"])
  expect([files.isRealFolder("deep"), files.isRealFolder("deep/inner")]).toEqual([false, false])
})

it("looks at every file each time, and reads an index anew when it is another", () => {
  fill()
  const files = createWorkspaceFiles(work.root, 1 << 20)
  const again = () => {
    files.refresh()
    return findStale(files, indexFile, 60, new Map())
  }
  expect(again()).toEqual([])
  writeFileSync(at("d0/f0.txt"), "edited, and longer")
  expect(again()).toEqual(["d0/f0.txt"])
  addAll()
  expect(again()).toEqual([])
  rmSync(at("d1/f1.txt"))
  rmSync(at("d2"), { recursive: true })
  expect(again()).toEqual(gits())
  writeFileSync(indexFile, "no index any more")
  expect(again()).toBeUndefined()
})

it("notes on the way which files are private", () => {
  fill()
  for (const path of ["d0/f0.txt", "run.sh"]) chmodSync(at(path), path === "run.sh" ? 0o700 : 0o400)
  const marks = new Map([
    ["d0/f4.txt", true],
    ["d1/", true],
  ])
  chmodSync(at("d1/f1.txt"), 0o600)
  ours(marks)
  const open = [5, 9, 13, 17, 21, 25, 29, 33, 37].map((i) => [`d1/f${i}.txt`, false] as const)
  expect(marks).toEqual(new Map([["d0/f0.txt", true], ["run.sh", true], ["d1/", true], ...open]))
  const [same] = [new Map(marks)]
  ours(marks)
  expect(marks).toEqual(same)
})

it("trusts no file that is as young as the index", () => {
  work.write("a.txt", "one")
  work.git("add", "-A")
  writeFileSync(at("a.txt"), "two")
  const then = new Date(Math.floor(lstatSync(at("a.txt")).mtimeMs)) // the clock can be ahead of the times files get
  utimesSync(indexFile, then, then)
  expect(ours()).toEqual(["a.txt"])
})

it("leaves an index to git that is damaged, large, split, or hides files", () => {
  fill()
  expect(ours()).toBeDefined()
  work.git("update-index", "--assume-unchanged", "empty")
  expect(ours()).toBeUndefined()
  work.git("update-index", "--no-assume-unchanged", "empty")
  work.git("update-index", "--split-index")
  expect(ours()).toBeUndefined()
  work.git("update-index", "--no-split-index")
  expect(ours()).toBeDefined()
  work.git("update-index", "--add", "--cacheinfo", "160000,1234567890123456789012345678901234567890,module")
  expect(ours()).toBeUndefined()
  work.git("update-index", "--force-remove", "module")
  for (let i = 0; i < 60; i++) work.write(`many/${i}`, "")
  expect(ours()).toBeDefined()
  addAll()
  expect(ours()).toBeUndefined()
  writeFileSync(indexFile, "DIRC and then nothing that makes sense, for long enough")
  expect(ours()).toBeUndefined()
})
