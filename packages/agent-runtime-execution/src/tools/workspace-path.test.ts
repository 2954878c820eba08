import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { useWorkspace } from "../../test/temporary-workspace.js"
import { createWorkspace } from "./workspace-path.js"

const folder = useWorkspace()
const resolve = async (path: string, protectedPaths: string[] = []) =>
  (await createWorkspace({ workspacePath: folder.path, protectedPaths }).resolve(path)).relative

describe("a path", () => {
  test("in the workspace is resolved, whether it exists or not", async () => {
    folder.put("a/b.txt", "x")
    expect(await resolve("a/b.txt")).toBe("a/b.txt")
    expect(await resolve("./a/../a//b.txt")).toBe("a/b.txt")
    expect(await resolve("")).toBe(".")
    expect(await resolve("new/deep/c.txt")).toBe("new/deep/c.txt")
    expect(await resolve(join(folder.path, "a/b.txt"))).toBe("a/b.txt")
    expect(await resolve("a/..b")).toBe("a/..b")
    expect(await resolve("a/b.txt/below")).toBe("a/b.txt/below")
  })

  test.each(["..", "../x", "a/../../x", "/etc/passwd", "/"])("that leads out is refused: %s", async (path) => {
    await expect(resolve(path)).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: `${path} is outside of the workspace.`,
    })
  })

  test("through a link that leads out is refused, also when what it names is not there", async () => {
    const outside = mkdtempSync(join(tmpdir(), "keepup-outside-"))
    mkdirSync(join(folder.path, "in"))
    symlinkSync(outside, join(folder.path, "out"))
    symlinkSync(join(outside, "not-there"), join(folder.path, "dangling"))
    symlinkSync("../../not-there", join(folder.path, "in/relative"))
    symlinkSync("in", join(folder.path, "good"))
    symlinkSync("in/new", join(folder.path, "good-dangling"))
    for (const path of ["out", "out/x", "out/deep/x", "dangling", "dangling/x", "in/relative", "good/relative/x"]) {
      await expect(resolve(path), path).rejects.toMatchObject({ code: "INVALID_INPUT" })
    }
    expect(await resolve("good/x")).toBe("in/x")
    expect(await resolve("good-dangling/x")).toBe("in/new/x")
    rmSync(outside, { recursive: true })
  })

  test("that goes round in links, or holds a NUL, is refused", async () => {
    symlinkSync("two", join(folder.path, "one"))
    symlinkSync("one", join(folder.path, "two"))
    await expect(resolve("one/x")).rejects.toMatchObject({ code: "INVALID_INPUT" })
    await expect(resolve("a\0b")).rejects.toMatchObject({ code: "INVALID_INPUT" })
  })

  test.each([
    ".git",
    ".git/config",
    "sub/.git/HEAD",
    ".GIT/hooks/pre-commit",
    ".keepup/config.json",
    ".agents/sessions.db-wal",
  ])("of git or of keepup is refused: %s", async (path) => {
    await expect(resolve(path)).rejects.toThrow("belongs to git or to keepup")
  })

  test("that only looks like it passes", async () => {
    for (const path of [".gitignore", ".github/x", "a.git", ".agents/HANDOFF.md"])
      expect(await resolve(path)).toBe(path)
  })

  test("in a protected folder is refused, also through a link to it", async () => {
    mkdirSync(join(folder.path, "state"))
    symlinkSync("state", join(folder.path, "link"))
    for (const path of ["state", "state/keepup.db", "link/x"]) {
      await expect(resolve(path, [join(folder.path, "state")])).rejects.toThrow("belongs to git or to keepup")
    }
    expect(await resolve("state2", [join(folder.path, "state")])).toBe("state2")
  })

  test("below a link to git's inside is refused", async () => {
    mkdirSync(join(folder.path, ".git"))
    symlinkSync(".git", join(folder.path, "innocent"))
    await expect(resolve("innocent/config")).rejects.toThrow("belongs to git")
  })
})
