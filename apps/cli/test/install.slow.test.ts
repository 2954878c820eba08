/** The tarball installs on a clean place without this workspace and without a compiler, and the demo runs from it. */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect, it } from "vitest"

const app = fileURLToPath(new URL("..", import.meta.url))
const root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-install-")))

afterAll(() => rmSync(root, { recursive: true, force: true }))

function run(command: string, args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  const result = spawnSync(command, args, { encoding: "utf8", timeout: 120_000, ...options })
  return { code: result.status, out: result.stdout, err: result.stderr }
}

it("packs, installs globally into an empty prefix, and plays its demo", () => {
  const packed = run("pnpm", ["pack", "--pack-destination", root], { cwd: app })
  expect(packed.code, packed.err).toBe(0)
  const tarball = join(root, readdirSync(root).find((name) => name.endsWith(".tgz")) as string)
  const prefix = join(root, "prefix")
  mkdirSync(prefix)
  // a compiler that fails: nothing may need one
  const env = { ...process.env, CC: "false", CXX: "false", npm_config_build_from_source: "false" }
  const installed = run("npm", ["install", "-g", "--prefix", prefix, "--no-audit", "--no-fund", tarball], {
    env,
    cwd: root,
  })
  expect(installed.code, installed.err).toBe(0)
  const manifest = JSON.parse(readFileSync(join(prefix, "lib/node_modules/keepup/package.json"), "utf8"))
  expect(Object.keys(manifest.dependencies).filter((name) => name.startsWith("@ku0/"))).toEqual([])
  const home = join(root, "home")
  mkdirSync(home)
  const clean = { PATH: `${join(prefix, "bin")}:${process.env["PATH"]}`, HOME: home, TMPDIR: root }
  expect(run("keepup", ["--version"], { env: clean, cwd: root }).out).toBe("0.1.0\n")
  const demo = run("keepup", ["demo"], { env: clean, cwd: root })
  expect(demo.code, demo.out + demo.err).toBe(0)
  expect(demo.out).toContain("Everything was as it says")
})
