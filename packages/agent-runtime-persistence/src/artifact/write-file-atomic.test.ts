import { readdirSync } from "node:fs"
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { isKeepupError } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { fromFileError } from "./file-error.js"
import { isTemporaryName, type WriteStep, writeFileAtomic } from "./write-file-atomic.js"

const steps: readonly WriteStep[] = ["created", "written", "synced", "renamed", "folder-synced"]
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keepup-write-"))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe("writeFileAtomic", () => {
  it("writes a new file that only its owner may read, in folders only their owner may enter", async () => {
    const path = join(folder, "a", "b", "c.json")
    await writeFileAtomic(path, "hello")
    expect(await readFile(path, "utf8")).toBe("hello")
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o700)
    expect((await stat(join(folder, "a"))).mode & 0o777).toBe(0o700)
    expect(await readdir(dirname(path))).toEqual(["c.json"])
  })

  it("replaces a file with bytes, in the mode it is told", async () => {
    const path = join(folder, "file")
    await writeFile(path, "old and longer than the new one")
    await writeFileAtomic(path, new Uint8Array([0, 255, 10]), { mode: 0o640 })
    expect(await readFile(path)).toEqual(Buffer.from([0, 255, 10]))
    expect((await stat(path)).mode & 0o777).toBe(0o640)
  })

  it("goes through its steps in order, the folder last", async () => {
    const seen: string[] = []
    await writeFileAtomic(join(folder, "file"), "x", { onStep: (step) => seen.push(step) })
    expect(seen).toEqual(steps)
  })

  it("writes a name as long as the system allows", async () => {
    const path = join(folder, "n".repeat(255))
    await writeFileAtomic(path, "x")
    expect(await readdir(folder)).toEqual(["n".repeat(255)])
  })

  it("replaces a symbolic link and leaves alone what it points to", async () => {
    const outside = join(folder, "outside")
    await writeFile(outside, "mine")
    await symlink(outside, join(folder, "link"))
    await writeFileAtomic(join(folder, "link"), "new")
    expect(await readFile(outside, "utf8")).toBe("mine")
    expect((await lstat(join(folder, "link"))).isFile()).toBe(true)
  })

  it.each(steps.slice(0, 3))("leaves the old content and no temporary file when it fails at step %s", async (at) => {
    const path = join(folder, "file")
    await writeFile(path, "old")
    const failing = writeFileAtomic(path, "new", { onStep: failAt(at, "ENOSPC") })
    await expect(failing).rejects.toMatchObject({
      code: "UNAVAILABLE",
      hint: expect.stringContaining("Free disk space"),
    })
    expect(await readdir(folder)).toEqual(["file"])
    expect(await readFile(path, "utf8")).toBe("old")
  })

  it.each(steps.slice(3))("has the new content whole and no temporary file when it fails at step %s", async (at) => {
    const path = join(folder, "file")
    await writeFile(path, "old")
    await expect(writeFileAtomic(path, "new", { onStep: failAt(at, "EIO") })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    })
    expect(await readdir(folder)).toEqual(["file"])
    expect(await readFile(path, "utf8")).toBe("new")
  })

  it("refuses to take the place of a folder and leaves no temporary file", async () => {
    await mkdir(join(folder, "taken", "inside"), { recursive: true })
    await expect(writeFileAtomic(join(folder, "taken"), "x")).rejects.toMatchObject({ code: "INVALID_INPUT" })
    expect(await readdir(folder)).toEqual(["taken"])
  })

  it("says that a file stands where a folder is needed", async () => {
    await writeFile(join(folder, "file"), "x")
    await expect(writeFileAtomic(join(folder, "file", "deeper", "x"), "x")).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("ENOTDIR"),
    })
  })

  it("says that a name is too long", async () => {
    await expect(writeFileAtomic(join(folder, "n".repeat(300)), "x")).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("too long"),
    })
    expect(await readdir(folder)).toEqual([])
  })

  it("lets many writers of one file each win whole", async () => {
    const path = join(folder, "file")
    const contents = Array.from({ length: 20 }, (_, i) => String(i).repeat(10_000))
    await Promise.all(contents.map((content) => writeFileAtomic(path, content)))
    expect(contents).toContain(await readFile(path, "utf8"))
    expect(await readdir(folder)).toEqual(["file"])
  })

  it("knows its own temporary names and no others", async () => {
    let temporary: string[] = []
    await writeFileAtomic(join(folder, "x"), "x", {
      onStep: (step) => {
        if (step === "created") temporary = readdirSync(folder)
      },
    })
    expect(temporary.filter(isTemporaryName)).toHaveLength(1)
    expect(["x", ".x.tmp", ".keepup-1.tmp", "keepup-0123456789abcdef.tmp"].filter(isTemporaryName)).toEqual([])
  })
})

describe("fromFileError", () => {
  it.each(["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM", "EIO", "EMFILE", "ENFILE"])(
    "turns %s into UNAVAILABLE that names the action and says what to do",
    (code) => {
      const error = fromFileError(systemError(code), "write /a/b")
      expect(error).toMatchObject({ code: "UNAVAILABLE", details: { system: code } })
      expect(error).toMatchObject({ message: expect.stringMatching(/^Can't write \/a\/b: .+\.$/) })
      expect(isKeepupError(error) && error.hint).toBeTruthy()
    },
  )

  it("turns a missing file into NOT_FOUND", () => {
    expect(fromFileError(systemError("ENOENT"), "read x")).toMatchObject({ code: "NOT_FOUND" })
  })

  it("leaves everything else as it is", () => {
    const own = fromFileError(systemError("ENOSPC"), "write x")
    for (const value of [own, new Error("bug"), systemError("EWHAT"), systemError("constructor"), null, "text", 5]) {
      expect(fromFileError(value, "write x")).toBe(value)
    }
  })
})

function failAt(at: WriteStep, code: string): (step: WriteStep) => void {
  return (step) => {
    if (step === at) throw systemError(code)
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: simulated`), { code })
}
