import { spawnSync } from "node:child_process"
import { chmodSync } from "node:fs"
import { join } from "node:path"
import { beforeEach, describe, expect, test } from "vitest"
import { use, useWorkspace } from "../../test/temporary-workspace.js"
import { createSearchFilesTool, type SearchFilesOptions } from "./search-files.js"
import { createWorkspace, type Workspace } from "./workspace-path.js"

const folder = useWorkspace()
const env = { PATH: process.env["PATH"] ?? "" }
let workspace: Workspace

beforeEach(() => {
  workspace = createWorkspace({ workspacePath: folder.path })
  folder.put("a.ts", "const one = 1\nconst two = 2\n")
  folder.put("sub/b.md", "One and two\r\n")
  folder.put(".git/config", "one")
  folder.put("secret/key", "one")
  folder.put("binary", "one\0")
})

const search = (args: unknown, options: Partial<SearchFilesOptions> = {}, signal?: AbortSignal) =>
  use(createSearchFilesTool({ workspace, env, ripgrep: null, ...options }), args, signal)

describe("search_files by going through the files", () => {
  test("shows lines that fit, with their place", async () => {
    expect((await search({ pattern: "one" })).content).toBe("a.ts:1: const one = 1\nsecret/key:1: one")
    expect((await search({ pattern: "^one.*two$", ignoreCase: true })).content).toBe("sub/b.md:1: One and two")
    expect((await search({ pattern: "two", glob: "*.ts" })).content).toBe("a.ts:2: const two = 2")
    expect((await search({ pattern: "two", path: "sub" })).content).toBe("sub/b.md:1: One and two")
    expect((await search({ pattern: "two", path: "sub/b.md" })).content).toBe("sub/b.md:1: One and two")
    expect((await search({ pattern: "nothing like it" })).content).toBe("(Nothing found.)")
  })

  test("shows no file that rules hide, and no more than is asked for", async () => {
    expect((await search({ pattern: "one" }, { isVisible: (path) => !path.startsWith("secret/") })).content).toBe(
      "a.ts:1: const one = 1",
    )
    expect((await search({ pattern: "." }, { maxLines: 1 })).content).toBe(
      "a.ts:1: const one = 1\n(More than 1 lines; use a narrower pattern, path or glob.)",
    )
    folder.put("long", `one${"x".repeat(1_000)}`)
    expect((await search({ pattern: "^onex" })).content).toHaveLength("long:1: ".length + 301)
  })

  test("refuses a pattern that can't be understood, takes for ever, or a path that is not there", async () => {
    await expect(search({ pattern: "(" })).rejects.toMatchObject({ code: "INVALID_INPUT" })
    folder.put("trap", `${"a".repeat(40)}b`)
    await expect(search({ pattern: "^(a+)+$", path: "trap" })).rejects.toThrow("takes too long")
    await expect(search({ pattern: "x", path: "nowhere" })).rejects.toMatchObject({ code: "NOT_FOUND" })
    await expect(search({ pattern: "x" }, {}, AbortSignal.abort())).rejects.toThrow()
  })

  test("is what happens where ripgrep is not installed", async () => {
    expect((await search({ pattern: "two", path: "sub" }, { ripgrep: "no-such-ripgrep" })).content).toBe(
      "sub/b.md:1: One and two",
    )
  })
})

/** The same with the real ripgrep, where it is installed. */
describe.each([null, ...(spawnSync("rg", ["--version"]).error === undefined ? ["rg"] : [])])(
  "files that .gitignore leaves out, searched with %s",
  (ripgrep) => {
    const lines = async (args: object) =>
      (await search({ pattern: "^needle$", ...args }, { ripgrep })).content.split("\n")

    beforeEach(() => {
      folder.put(".gitignore", "*.log\n/build/\n!keep.log\ndeep/**/tmp\n")
      folder.put("sub/.gitignore", "local\n!loud.log\n")
      for (const path of ["a.log", "keep.log", "build/x.js", "sub/build/x.js", "sub/local", "sub/loud.log", "local"]) {
        folder.put(path, "needle\n")
      }
      folder.put("deep/a/b/tmp/x", "needle\n")
      folder.put("deep/a/b/x", "needle\n")
    })

    test("are not shown, whether there is a repository or not", async () => {
      const shown = ["deep/a/b/x:1: needle", "keep.log:1: needle", "local:1: needle", "sub/build/x.js:1: needle"]
      expect(await lines({})).toEqual([...shown, "sub/loud.log:1: needle"])
      folder.put(".git/HEAD", "ref: refs/heads/main\n")
      folder.put(".git/info/exclude", "loud.log\n")
      folder.put("sub/.gitignore", "local\n")
      expect(await lines({})).toEqual(shown)
    })

    test("are not shown below a folder either, and are when they are named", async () => {
      expect(await lines({ path: "sub" })).toEqual(["sub/build/x.js:1: needle", "sub/loud.log:1: needle"])
      expect(await lines({ path: "a.log" })).toEqual(["a.log:1: needle"])
      expect(await lines({ path: "build" })).toEqual(["build/x.js:1: needle"])
    })
  },
)

describe("search_files with ripgrep", () => {
  /** Stands in for the program: checks how it is called, and answers as it does. */
  function fake(script: string): string {
    folder.put(".keepup/rg", `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder.path, ".keepup/rg"), 0o755)
    return join(folder.path, ".keepup/rg")
  }

  test("reads what it prints, and hides what must be hidden", async () => {
    const ripgrep = fake(
      `printf './a.ts\\0001:const one: 1\\n./sub/b.md\\00012:x:y\\r\\n./.keepup/config\\0001:one\\n./secret/key\\0001:one\\n'`,
    )
    const isVisible = (path: string) => path !== "secret/key"
    expect((await search({ pattern: "one" }, { ripgrep, isVisible })).content).toBe(
      "a.ts:1: const one: 1\nsub/b.md:12: x:y",
    )
    expect((await search({ pattern: "one", glob: "*.md" }, { ripgrep })).content).toBe("sub/b.md:12: x:y")
  })

  test("hands the pattern over as it is, and searches where it is told", async () => {
    const ripgrep = fake(`for last; do :; done; printf '%s\\0001:%s\\n' "$last" "$*"; pwd >&2`)
    expect((await search({ pattern: "-e $(x)", path: "sub" }, { ripgrep })).content).toMatch(
      /^sub\/\.?:1: .*-e -e \$\(x\) -- \.$/m,
    )
    expect((await search({ pattern: "x", path: "sub/b.md", ignoreCase: true }, { ripgrep })).content).toMatch(
      /^sub\/b\.md:1: .*--ignore-case.* -- b\.md$/m,
    )
  })

  test("takes nothing found for what it is, and a failure for a failure", async () => {
    expect((await search({ pattern: "x" }, { ripgrep: fake("exit 1") })).content).toBe("(Nothing found.)")
    await expect(search({ pattern: "x" }, { ripgrep: fake("echo bad pattern; exit 2") })).rejects.toThrow(
      "ripgrep failed: bad pattern",
    )
  })
})
