/** What is captured under ignore files in many folders is what git would list: git itself is the oracle. */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace({ git: true })
})
afterEach(() => work.close())

const folders = ["", "a", "b", "a/b", "a/b/a", "b/ab", "dist", "a/dist"]
const names = ["a", "b", "ab", "x.log", "a.b", "keep"]

it("holds what git lists, whatever the ignore files of the folders say", async () => {
  const piece = fc.constantFrom("a", "b", "*", "**", "?", "/", ".", "[ab]", "\\a", "dist", ".log", "keep", "x")
  const line = fc
    .tuple(fc.constantFrom("", "", "!", "/"), fc.array(piece, { minLength: 1, maxLength: 4 }), fc.constantFrom("", "/"))
    .map(([start, pieces, end]) => start + pieces.join("") + end)
  const rules = fc.array(fc.tuple(fc.constantFrom(...folders), fc.array(line, { minLength: 1, maxLength: 3 })), {
    minLength: 1,
    maxLength: 4,
  })
  const store = await work.open()
  for (const folder of folders)
    for (const name of names) work.write(`${folder === "" ? "file-" : `${folder}/file-`}${name}`, name)
  let written: string[] = []
  await fc.assert(
    fc.asyncProperty(rules, fc.boolean(), async (chosen, isTracked) => {
      for (const path of written) work.remove(path)
      written = []
      for (const [folder, lines] of chosen) {
        const path = folder === "" ? ".gitignore" : `${folder}/.gitignore`
        work.write(path, `${lines.join("\n")}\n`)
        written.push(path)
      }
      if (isTracked) work.git("add", "-f", "dist/file-x.log")
      else work.git("rm", "-q", "--cached", "--ignore-unmatch", "dist/file-x.log")
      const { commit } = await store.capture({ message: "x", exact: true })
      const held = (await store.listFiles(commit)).map(({ path }) => path).sort()
      const listed = work.git("ls-files", "-z", "-c", "-o", "--exclude-standard").split("\0").slice(0, -1).sort()
      expect({ chosen, held }).toEqual({ chosen, held: listed })
    }),
    { numRuns: 25 },
  )
})

it("follows an ignore file that ignores itself: it comes, changes and goes", async () => {
  const store = await work.open()
  for (const name of ["one", "two", "three"]) work.write(`sub/deep/${name}`, name)
  work.write("top", "t")
  const held = async () => {
    const { commit } = await store.capture({ message: "x", exact: true })
    const listed = work.git("ls-files", "-z", "-o", "--exclude-standard").split("\0").slice(0, -1).sort()
    const files = (await store.listFiles(commit)).map(({ path }) => path).sort()
    expect(files).toEqual(listed)
    return files.map((path) => path.replace("sub/deep/", ""))
  }
  expect(await held()).toEqual(["one", "three", "two", "top"])
  work.write("sub/.gitignore", "*\n")
  expect(await held()).toEqual(["top"])
  work.write("sub/.gitignore", ".gitignore\ntwo\n")
  expect(await held()).toEqual(["one", "three", "top"])
  work.write("sub/.gitignore", ".gitignore\none\n")
  expect(await held()).toEqual(["three", "two", "top"])
  work.remove("sub/.gitignore")
  expect(await held()).toEqual(["one", "three", "two", "top"])
})

it("goes on when a folder becomes a link while git is asked about it, and holds it once it is a folder again", async () => {
  mkdirSync(join(work.folder, "outside/deep"), { recursive: true })
  writeFileSync(join(work.folder, "outside/deep/secret"), "not ours")
  work.write(".gitignore", "*\n!*\n") // so that git is asked about every name
  work.write("moving/deep/file", "1")
  work.write("other", "2")
  // A git that, asked about what is in the folder, first finds a link in its place.
  const git = join(work.folder, "git")
  const swap = `[ -d moved ] || { mv moving moved && ln -s ${join(work.folder, "outside")} moving; }`
  writeFileSync(
    git,
    `#!/bin/sh\ncase "$*" in *check-ignore*) cat > ${git}.in; grep -q moving/deep ${git}.in && { ${swap}; }; exec git "$@" < ${git}.in;; esac\nexec git "$@"\n`,
  )
  chmodSync(git, 0o755)
  const held = async () => {
    const { commit } = await store.capture({ message: "x", exact: true })
    return (await store.listFiles(commit)).map(({ path }) => path).sort()
  }
  const store = await work.open({ git })
  expect(await held()).not.toContain("moving/deep/secret")
  rmSync(join(work.root, "moving"))
  renameSync(join(work.root, "moved"), join(work.root, "moving"))
  rmSync(git)
  writeFileSync(git, '#!/bin/sh\nexec git "$@"\n', { mode: 0o755 })
  expect(await held()).toEqual([".gitignore", "moving/deep/file", "other"])
})

it("asks git once about a name it ignores, and anew when a rule or the name itself became another", async () => {
  const git = join(work.folder, "git")
  const asked = join(work.folder, "asked")
  writeFileSync(git, `#!/bin/sh\ncase "$*" in *check-ignore*) echo x >> ${asked};; esac\nexec git "$@"\n`)
  chmodSync(git, 0o755)
  const count = () => (existsSync(asked) ? readFileSync(asked, "utf8").length / 2 : 0)
  const store = await work.open({ git })
  work.write(".gitignore", "out\nlogs/\n")
  work.write("sub/out", "ignored")
  work.write("sub/logs", "a file: the rule is about folders")
  const held = async () => {
    const { commit } = await store.capture({ message: "x", exact: true })
    return (await store.listFiles(commit)).map(({ path }) => path).sort()
  }
  expect(await held()).toEqual([".gitignore", "sub/logs"])
  // A young ignore file may have changed in the same tick of the clock: it is read anew, until it is old enough.
  let before = 0
  do {
    before = count()
    await held()
  } while (count() !== before)
  work.write("sub/new", "n")
  expect(await held()).toEqual([".gitignore", "sub/logs", "sub/new"])
  expect(count()).toBe(before)
  work.remove("sub/logs")
  work.write("sub/logs/today", "in a folder now")
  expect(await held()).toEqual([".gitignore", "sub/new"])
  work.write(".gitignore", "logs/\n")
  expect(await held()).toEqual([".gitignore", "sub/new", "sub/out"])
})
