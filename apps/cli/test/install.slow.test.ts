/** The tarball installs on a clean place without this workspace and without a compiler, and the demo runs from it. */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"

const app = fileURLToPath(new URL("..", import.meta.url))
const root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-install-")))
let tarball: string

afterAll(() => rmSync(root, { recursive: true, force: true }))

function run(command: string, args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  const result = spawnSync(command, args, { encoding: "utf8", timeout: 240_000, ...options })
  return { code: result.status, out: result.stdout, err: `${result.error ?? ""}${result.stderr}` }
}

beforeAll(() => {
  const packed = run("pnpm", ["pack", "--pack-destination", root], { cwd: app })
  expect(packed.code, packed.out + packed.err).toBe(0)
  tarball = join(root, readdirSync(root).find((name) => name.endsWith(".tgz")) as string)
})

/** The folder of this Node, or of the one that npm brings. */
function findNode(version: string | undefined): string {
  if (version === undefined) return dirname(process.execPath)
  const folder = join(root, `node-${version}`)
  const name = `node-${process.platform}-${process.arch}@${version}`
  const brought = run("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", "--no-save", name], {
    cwd: root,
  })
  expect(brought.code, brought.err).toBe(0)
  return join(folder, "node_modules", name.split("@")[0] as string, "bin")
}

it.each([
  ["this Node", undefined],
  ["Node 24", "24.21.0"],
])("packs, installs globally into an empty prefix, and plays its demo on %s", (_, version) => {
  const node = findNode(version)
  const prefix = join(root, `prefix-${version}`)
  mkdirSync(prefix)
  const path = `${node}:${process.env["PATH"]}`
  // a compiler that fails: nothing may need one
  const env = { ...process.env, PATH: path, CC: "false", CXX: "false", npm_config_build_from_source: "false" }
  const installed = run("npm", ["install", "-g", "--prefix", prefix, "--no-audit", "--no-fund", tarball], {
    env,
    cwd: root,
  })
  expect(installed.code, installed.err).toBe(0)
  const manifest = JSON.parse(readFileSync(join(prefix, "lib/node_modules/keepup/package.json"), "utf8"))
  expect(Object.keys(manifest.dependencies).filter((name) => name.startsWith("@ku0/"))).toEqual([])
  const home = join(root, `home-${version}`)
  mkdirSync(home)
  const clean = { PATH: `${join(prefix, "bin")}:${path}`, HOME: home, TMPDIR: root }
  expect(run("keepup", ["--version"], { env: clean, cwd: root }).out).toBe("0.1.0\n")
  const doctor = JSON.parse(run("keepup", ["doctor", "--json"], { env: clean, cwd: home }).out)
  expect(doctor.store.node).toMatch(version === undefined ? process.version : /^v24\./)
  const demo = run("keepup", ["demo"], { env: clean, cwd: root })
  expect(demo.code, demo.out + demo.err).toBe(0)
  expect(demo.out).toContain("Everything was as it says")
})
