/** The built packages, as a program outside this workspace finds them: JavaScript that runs, declarations that hold. */
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"

const facade = fileURLToPath(new URL("..", import.meta.url))
const repository = join(facade, "../..")
const root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-built-")))

function node(args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8", timeout: 240_000 })
  expect(status, stdout + stderr).toBe(0)
  return stdout
}

beforeAll(() => {
  node(["scripts/build.mjs", "agent-runtime"], repository)
  mkdirSync(join(root, "node_modules/@ku0"), { recursive: true })
  symlinkSync(facade, join(root, "node_modules/@ku0/agent-runtime"))
  symlinkSync(join(repository, "node_modules/@types"), join(root, "node_modules/@types"))
  writeFileSync(join(root, "package.json"), '{ "type": "module" }')
  copyFileSync(join(facade, "test/programs/every-name.ts"), join(root, "every-name.ts"))
}, 300_000)
afterAll(() => rmSync(root, { recursive: true, force: true }))

it("is enough for a program of its own, in strict TypeScript, that uses every name that stays", () => {
  const options = [
    "--strict",
    "--target",
    "es2023",
    "--module",
    "nodenext",
    "--skipLibCheck",
    "false",
    "--types",
    "node",
  ]
  node([join(repository, "node_modules/typescript/bin/tsc"), ...options, "--outDir", "out", "every-name.ts"], root)
  expect(JSON.parse(node(["--no-warnings", "out/every-name.js", root], root))).toEqual({
    shadow: ["one", "a.txt", "two"],
    removedCount: 2,
    stale: ["a.txt"],
    progress: 0.5,
    resumed: "one",
    triggers: ["interval", "before-restore", "manual"],
    listed: [1, 2, 3],
    actions: ["forward", "branch", "replay"],
    artifact: [true, false],
    leases: [],
  })
}, 300_000)
