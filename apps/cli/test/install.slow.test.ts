/** The tarball installs on a clean place without this workspace and without a compiler; the demo and the page run from it. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { buildOnce } from "./real-keepup.js"

vi.setConfig({ testTimeout: 1_800_000 }) // what is installed may come from far away

const app = fileURLToPath(new URL("..", import.meta.url))
const root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-install-")))
let tarball: string

afterAll(() => rmSync(root, { recursive: true, force: true }))

function run(command: string, args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  const result = spawnSync(command, args, { encoding: "utf8", timeout: 600_000, ...options })
  return { code: result.status, out: result.stdout, err: `${result.error ?? ""}${result.stderr}` }
}

beforeAll(async () => {
  // what pack would do first is done already: other tests run the program meanwhile, so nobody writes it again
  const { scripts } = JSON.parse(readFileSync(join(app, "package.json"), "utf8"))
  expect(scripts.prepack).toMatch(/build\.mjs keepup --bundle$/)
  await buildOnce()
  const packed = run("pnpm", ["--config.ignore-scripts=true", "pack", "--pack-destination", root], { cwd: app })
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
])("packs, installs globally into an empty prefix, plays its demo and serves its page on %s", async (_, version) => {
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
  await expectPage(clean, home)
})

/** The server and the page come with the tarball. */
async function expectPage(env: NodeJS.ProcessEnv, cwd: string): Promise<void> {
  const child = spawn("keepup", ["serve", "--port", "0", "--json"], { env, cwd, stdio: ["ignore", "pipe", "inherit"] })
  try {
    const [line] = (await once(child.stdout, "data")) as [Buffer]
    const { server } = JSON.parse(line.toString()) as { server: { url: string } }
    const page = await (await fetch(server.url)).text()
    const files = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, path]) => path as string)
    expect(files.some((path) => path.endsWith(".js")) && files.some((path) => path.endsWith(".css"))).toBe(true)
    for (const path of files) expect((await fetch(server.url + path)).status, path).toBe(200)
    expect((await fetch(`${server.url}api/sessions`)).status).toBe(401)
  } finally {
    child.kill("SIGTERM")
  }
  expect((await once(child, "exit"))[0]).toBe(130)
}
