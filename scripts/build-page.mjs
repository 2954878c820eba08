/** Builds an app's page with vite into its `dist/page`, unless what is there is newer than everything it is made of. */
import { spawn } from "node:child_process"
import { existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { findMember, membersFor, root } from "./workspace.mjs"

const builds = new Map()

/** Returns the folder of the built page, or `undefined` if the app has none. Asked twice, it is built once. */
export function buildPage(name) {
  const known = builds.get(name) ?? build(name)
  builds.set(name, known)
  return known
}

async function build(name) {
  const folder = join(root, findMember(name).folder)
  if (!existsSync(join(folder, "vite.config.ts"))) return undefined
  const page = join(folder, "dist/page")
  const made = join(page, "index.html")
  if (existsSync(made) && statSync(made).mtimeMs > newestSource(folder)) return page
  await run(folder)
  return page
}

function newestSource(folder) {
  const core = join(root, membersFor("agent-runtime-core").at(-1).folder)
  const folders = [join(folder, "src"), join(core, "src")]
  const files = folders.flatMap((one) =>
    readdirSync(one, { recursive: true, withFileTypes: true })
      .filter((item) => item.isFile())
      .map((item) => join(item.parentPath, item.name)),
  )
  const beside = ["index.html", "vite.config.ts", "package.json"].map((one) => join(folder, one))
  return Math.max(...[...files, ...beside].map((path) => statSync(path).mtimeMs))
}

function run(folder) {
  const vite = join(folder, "node_modules/vite/bin/vite.js")
  const child = spawn(process.execPath, [vite, "build", "--logLevel", "warn"], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
  })
  return new Promise((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error("The page was not built: see above."))))
  })
}
