import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeEach, describe, expect, test } from "vitest"
import { use, useWorkspace } from "../../test/temporary-workspace.js"
import { createFileContextTracker, type FileContextHandle } from "../context/file-context-tracker.js"
import { createEditFileTool } from "./edit-file.js"
import { diskFiles, type FileOperations } from "./file-operations.js"
import { createListFilesTool } from "./list-files.js"
import { createReadFileTool } from "./read-file.js"
import { createWorkspace, type Workspace } from "./workspace-path.js"
import { createWriteFileTool } from "./write-file.js"

const folder = useWorkspace()
let workspace: Workspace
let context: FileContextHandle

beforeEach(() => {
  workspace = createWorkspace({ workspacePath: folder.path })
  context = createFileContextTracker({ workspacePath: folder.path, watch: false }).getHandle("agent")
})

const options = () => ({ workspace, context })
const read = (args: unknown) => use(createReadFileTool(options()), args)
const write = (args: unknown) => use(createWriteFileTool(options()), args)
const edit = (...edits: unknown[]) => use(createEditFileTool(options()), { edits })

describe("read_file", () => {
  test("shows a file whole, or some lines of it", async () => {
    folder.put("a.txt", "1\n2\n3\n4\n")
    expect(await read({ path: "a.txt" })).toEqual({ content: "1\n2\n3\n4\n" })
    expect(await read({ path: "a.txt", offset: 2, limit: 2 })).toEqual({
      content: "2\n3\n(Lines 2 to 3 of 4. Use offset to go on.)",
    })
    expect(await read({ path: "a.txt", offset: 3 })).toEqual({ content: "3\n4\n" })
    await expect(read({ path: "a.txt", offset: 5 })).rejects.toThrow("has only 4 lines")
    folder.put("empty", "")
    expect(await read({ path: "empty" })).toEqual({ content: "(The file is empty.)" })
  })

  test("cuts off what is too long and says so", async () => {
    folder.put("long.txt", `${"x".repeat(100)}\n${"y".repeat(100)}`)
    const { content } = await use(createReadFileTool({ workspace, maxCharacters: 20 }), { path: "long.txt" })
    expect(content).toBe(`${"x".repeat(20)}\n(Lines 1 to 1 of 2, cut off. Use offset to go on.)`)
  })

  test("refuses what is not there, not text, a folder, or not asked for properly", async () => {
    folder.put("binary", new Uint8Array([0xff, 0xfe, 0]))
    folder.put("nul", "a\0b")
    await expect(read({ path: "none.txt" })).rejects.toMatchObject({ code: "NOT_FOUND" })
    await expect(read({ path: "binary" })).rejects.toThrow("not a text file")
    await expect(read({ path: "nul" })).rejects.toThrow("not a text file")
    await expect(read({ path: "." })).rejects.toThrow("EISDIR")
    await expect(read({})).rejects.toThrow("The arguments do not fit: path is missing.")
    await expect(read({ path: "a", offset: 0, limit: 1.5 })).rejects.toThrow(
      "offset must be 1 or more; limit must be an integer",
    )
    await expect(read([])).rejects.toThrow("the arguments must be an object")
    await expect(read(undefined)).rejects.toThrow("path is missing")
  })

  test("says where it looks, for the rules", async () => {
    expect(await createReadFileTool(options()).targets?.({ path: "./x/../a.txt" })).toEqual(["a.txt"])
  })
})

describe("write_file", () => {
  test("makes a file with its folders, and replaces one with its mode kept", async () => {
    expect(await write({ path: "deep/er/a.sh", content: "one" })).toEqual({ content: "Made deep/er/a.sh (3 bytes)." })
    chmodSync(join(folder.path, "deep/er/a.sh"), 0o755)
    expect(await write({ path: "deep/er/a.sh", content: "zwö" })).toEqual({
      content: "Replaced deep/er/a.sh (4 bytes).",
    })
    expect(folder.read("deep/er/a.sh")).toBe("zwö")
    expect(statSync(join(folder.path, "deep/er/a.sh")).mode & 0o777).toBe(0o755)
    expect(readdirSync(join(folder.path, "deep/er"))).toEqual(["a.sh"])
  })

  test("writes through a link within the workspace, and leaves the link", async () => {
    folder.put("real.txt", "one")
    symlinkSync("real.txt", join(folder.path, "link.txt"))
    await write({ path: "link.txt", content: "two" })
    expect(folder.read("real.txt")).toBe("two")
  })

  test("refuses a file that changed since it was read, also right after its own write", async () => {
    folder.put("a.txt", "one")
    await read({ path: "a.txt" })
    await write({ path: "a.txt", content: "mine" })
    await write({ path: "a.txt", content: "mine again" })
    folder.put("a.txt", "theirs")
    await expect(write({ path: "a.txt", content: "lost" })).rejects.toMatchObject({
      code: "CONFLICT",
      message: "Stale file context detected. Reload before editing:\n- a.txt",
    })
    expect(folder.read("a.txt")).toBe("theirs")
    await read({ path: "a.txt" })
    await write({ path: "a.txt", content: "knowing" })
    expect(folder.read("a.txt")).toBe("knowing")
  })

  test("knows afterwards whether it was done", async () => {
    const tool = createWriteFileTool(options())
    const args = { path: "a.txt", content: "one" }
    expect(await tool.inspect?.(args, "c")).toEqual({ summary: "a.txt is not there.", isApplied: false })
    expect(await tool.readFacts?.(args)).toEqual({ "a.txt": null })
    await use(tool, args)
    expect(await tool.inspect?.(args, "c")).toEqual({
      summary: "a.txt holds exactly what was to be written.",
      isApplied: true,
    })
    expect(await tool.readFacts?.(args)).toEqual({ "a.txt": expect.stringMatching(/^[0-9a-f]{64}$/) })
    folder.put("a.txt", "two")
    expect(await tool.inspect?.(args, "c")).toMatchObject({ isApplied: false })
    expect(await tool.targets?.(args)).toEqual(["a.txt"])
  })

  test("leaves nothing behind when it fails", async () => {
    folder.put("dir/x", "")
    await expect(write({ path: "dir", content: "x" })).rejects.toThrow()
    await expect(write({ path: "dir/x/y", content: "x" })).rejects.toThrow()
    expect(readdirSync(folder.path)).toEqual(["dir"])
    expect(readdirSync(join(folder.path, "dir"))).toEqual(["x"])
  })
})

describe("edit_file", () => {
  test("replaces exactly what it was told to, bytes around it untouched", async () => {
    folder.put("a.txt", "\ufeffone\r\ntwo\r\n")
    expect(await edit({ path: "a.txt", oldText: "two", newText: "$& zwei" })).toEqual({ content: "Edited a.txt (1)." })
    expect(folder.read("a.txt")).toBe("\ufeffone\r\n$& zwei\r\n")
  })

  test("makes several edits of several files, by any of their names", async () => {
    folder.put("a.txt", "one two")
    folder.put("b.txt", "x x x")
    const content = await edit(
      { path: "a.txt", oldText: "one", newText: "1" },
      { path: "b.txt", oldText: "x", newText: "y", replaceAll: true },
      { path: "./a.txt", oldText: "1 two", newText: "3" },
    )
    expect(content).toEqual({ content: "Edited a.txt (2), b.txt (1)." })
    expect([folder.read("a.txt"), folder.read("b.txt")]).toEqual(["3", "y y y"])
  })

  test.each([
    [{ oldText: "", newText: "x" }, "oldText is empty"],
    [{ oldText: "one", newText: "one" }, "the same"],
    [{ oldText: "none", newText: "x" }, "not found"],
    [{ oldText: "o", newText: "x" }, "found 2 times"],
  ])("refuses %o, and then changes nothing at all", async (bad, why) => {
    folder.put("a.txt", "one")
    folder.put("b.txt", "one two")
    const good = { path: "a.txt", oldText: "one", newText: "changed" }
    await expect(edit(good, { path: "b.txt", ...bad })).rejects.toThrow(why)
    expect([folder.read("a.txt"), folder.read("b.txt")]).toEqual(["one", "one two"])
  })

  test("says that line ends may be the reason", async () => {
    folder.put("a.txt", "one\r\ntwo\r\n")
    await expect(edit({ path: "a.txt", oldText: "one\ntwo", newText: "x" })).rejects.toMatchObject({
      hint: "The file has CRLF line ends.",
    })
    await expect(edit({ path: "none.txt", oldText: "a", newText: "b" })).rejects.toMatchObject({ code: "NOT_FOUND" })
    await expect(edit()).rejects.toThrow("edits must have 1 or more items")
  })

  test("of several files, some of them stale, names all of those and changes none", async () => {
    for (const path of ["a.txt", "b.txt", "c.txt"]) {
      folder.put(path, "one")
      await read({ path })
    }
    folder.put("a.txt", "one, by them")
    folder.put("c.txt", "one, by them")
    const edits = ["a.txt", "b.txt", "c.txt"].map((path) => ({ path, oldText: "one", newText: "two" }))
    await expect(edit(...edits)).rejects.toMatchObject({
      code: "CONFLICT",
      message: "Stale file context detected. Reload before editing:\n- a.txt\n- c.txt",
    })
    expect(folder.read("b.txt")).toBe("one")
    for (const path of ["a.txt", "c.txt"]) await read({ path })
    await edit(...edits)
    expect(folder.read("b.txt")).toBe("two")
  })

  /** Does something at the last moment before the files are swapped. */
  const meddling = (meddle: () => void): FileOperations => ({
    ...diskFiles,
    async prepare(path, content) {
      const prepared = await diskFiles.prepare(path, content)
      meddle()
      return prepared
    },
  })

  test("notices a change at the last moment", async () => {
    folder.put("a.txt", "one")
    await read({ path: "a.txt" })
    const files = meddling(() => folder.put("a.txt", "one, by someone"))
    const tool = createEditFileTool({ ...options(), files })
    await expect(use(tool, { edits: [{ path: "a.txt", oldText: "one", newText: "two" }] })).rejects.toMatchObject({
      code: "CONFLICT",
    })
    expect(folder.read("a.txt")).toBe("one, by someone")
    expect(readdirSync(folder.path)).toEqual(["a.txt"])
  })

  test("notices a change at the last moment of a file nobody had read, and names it", async () => {
    folder.put("a.txt", "one")
    folder.put("sub/b.txt", "one")
    const files = meddling(() => folder.put("sub/b.txt", "one, by someone"))
    const edits = ["a.txt", "sub/b.txt"].map((path) => ({ path, oldText: "one", newText: "two" }))
    const refused = { code: "CONFLICT", message: "Stale file context detected. Reload before editing:\n- sub/b.txt" }
    await expect(use(createEditFileTool({ ...options(), files }), { edits })).rejects.toMatchObject(refused)
    const made = meddling(() => folder.put("new.txt", "by someone"))
    const writing = use(createWriteFileTool({ ...options(), files: made }), { path: "new.txt", content: "mine" })
    await expect(writing).rejects.toMatchObject({ code: "CONFLICT" })
    const contents = ["a.txt", "sub/b.txt", "new.txt"].map((path) => folder.read(path))
    expect(contents).toEqual(["one", "one, by someone", "by someone"])
  })

  test("takes back what it did when a later file can't be changed", async () => {
    for (const path of ["a.txt", "b.txt"]) {
      folder.put(path, "one")
      await read({ path })
    }
    let commits = 0
    const files: FileOperations = {
      ...diskFiles,
      async prepare(path, content) {
        const prepared = await diskFiles.prepare(path, content)
        const commit = async () => {
          if (++commits === 2) throw new Error("disk full")
          await prepared.commit()
        }
        return { ...prepared, commit }
      },
    }
    const edits = ["a.txt", "b.txt"].map((path) => ({ path, oldText: "one", newText: "two" }))
    await expect(use(createEditFileTool({ ...options(), files }), { edits })).rejects.toThrow("disk full")
    expect([folder.read("a.txt"), folder.read("b.txt")]).toEqual(["one", "one"])
    expect(context.listStale()).toEqual([])
    expect(readdirSync(folder.path)).toEqual(["a.txt", "b.txt"])
  })

  test("knows afterwards whether it was done", async () => {
    const tool = createEditFileTool(options())
    folder.put("a.txt", "one")
    folder.put("b.txt", "one")
    const args = { edits: ["a.txt", "b.txt"].map((path) => ({ path, oldText: "one", newText: "two" })) }
    expect(await tool.inspect?.(args, "c")).toMatchObject({ isApplied: false })
    folder.put("a.txt", "two")
    expect(await tool.inspect?.(args, "c")).toEqual({
      summary: "a.txt: the edits look made; b.txt: the edits look not made.",
    })
    folder.put("b.txt", "two")
    expect(await tool.inspect?.(args, "c")).toMatchObject({ isApplied: true })
    folder.put("b.txt", "three")
    expect((await tool.inspect?.(args, "c"))?.summary).toContain("b.txt: the edits look unclear")
    expect(await tool.targets?.(args)).toEqual(["a.txt", "b.txt"])
    expect(Object.keys((await tool.readFacts?.(args)) ?? {})).toEqual(["a.txt", "b.txt"])
  })
})

describe("list_files", () => {
  test("lists in order, without git, keepup and node_modules", async () => {
    for (const path of [
      "b.ts",
      "a/x.ts",
      "a/y.md",
      ".git/config",
      ".keepup/config.json",
      "node_modules/m/i.js",
      ".env",
    ])
      folder.put(path, "")
    symlinkSync("/etc", join(folder.path, "etc"))
    const list = (args: unknown) => use(createListFilesTool({ workspace }), args)
    expect((await list({})).content.split("\n")).toEqual([".env", "a/x.ts", "a/y.md", "b.ts", "etc (link)"])
    expect(await list({ glob: "*.ts" })).toEqual({ content: "a/x.ts\nb.ts" })
    expect(await list({ path: "a", glob: "**/*.md" })).toEqual({ content: "a/y.md" })
    expect(await list({ path: "node_modules" })).toEqual({ content: "node_modules/m/i.js" })
    expect(await list({ glob: "*.none" })).toEqual({ content: "(No files.)" })
    await expect(list({ path: "nowhere" })).rejects.toMatchObject({ code: "NOT_FOUND" })
    await expect(list({ path: "b.ts" })).rejects.toMatchObject({ code: "NOT_FOUND" })
    const few = await use(createListFilesTool({ workspace, maxFiles: 2, isVisible: (path) => path !== ".env" }), {})
    expect(few.content).toBe("a/x.ts\na/y.md\n(More than 2 files; name a folder or a glob to see the others.)")
    expect(await createListFilesTool({ workspace }).targets?.({})).toEqual(["."])
  })
})

test("a write takes away what a dead process left behind, and hides what a live one is writing", async () => {
  const dead = spawnSync("true").pid
  folder.put(`sub/.a.txt.${dead}-0123abcd.keepup-tmp`, "half")
  folder.put(`sub/.a.txt.${process.pid}-0123abcd.keepup-tmp`, "half")
  expect((await use(createListFilesTool({ workspace }), {})).content).toBe("(No files.)")
  await write({ path: "sub/b.txt", content: "x" })
  expect(readdirSync(join(folder.path, "sub"))).toEqual([`.a.txt.${process.pid}-0123abcd.keepup-tmp`, "b.txt"])
})

test("files are removed without complaint when they are not there", async () => {
  await diskFiles.remove(join(folder.path, "none"))
  writeFileSync(join(folder.path, "x"), "")
  await diskFiles.remove(join(folder.path, "x"))
  expect(existsSync(join(folder.path, "x"))).toBe(false)
})
