import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { createGitReader } from "./git-reader.js"

let root: string
let workspacePath: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-git-reader-")))
  workspacePath = join(root, "workspace")
  mkdirSync(workspacePath)
  execFileSync("git", ["init", "-q", "-b", "main", workspacePath])
  mkdirSync(join(root, "bin"))
  const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim()
  writeFileSync(join(root, "bin/git"), `#!/bin/sh\necho x >> "${root}/calls"\nexec "${git}" "$@"\n`)
  chmodSync(join(root, "bin/git"), 0o755)
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const open = (isEarly: boolean) =>
  createGitReader({
    workspacePath,
    isEarly,
    environment: { PATH: `${join(root, "bin")}:${process.env["PATH"]}` },
  })
const countCalls = () => readFileSync(join(root, "calls"), "utf8").length / 2

describe("git's facts", () => {
  it("that are on their way serve one checkpoint, and the next one gets those of its own time", async () => {
    const reader = open(true)
    expect(await reader.takeFacts(workspacePath)).toMatchObject({ branch: "main", untracked: 0 })
    expect(countCalls()).toBe(1)
    writeFileSync(join(workspacePath, "new.txt"), "new")
    expect(await reader.takeFacts(workspacePath)).toMatchObject({ untracked: 1 })
    expect(countCalls()).toBe(2)
  })

  it("of another workspace are not mistaken for those on their way", async () => {
    const reader = open(true)
    expect(await reader.takeFacts(root)).toBeNull()
    expect(await reader.readFacts()).toMatchObject({ branch: "main" })
    reader.stop()
  })

  it("are not read before anyone asks, unless told", async () => {
    const reader = open(false)
    expect(() => countCalls()).toThrow("ENOENT")
    expect(await reader.takeFacts(workspacePath)).toMatchObject({ branch: "main" })
  })

  it("fail for whoever takes them, and for nobody when they are stopped", async () => {
    writeFileSync(join(root, "bin/git"), "#!/bin/sh\nexit 3\n")
    await expect(open(true).takeFacts(workspacePath)).rejects.toMatchObject({ code: "INTERNAL" })
    const reader = open(true)
    reader.stop()
    reader.stop()
  })
})
