/** Gets the bench ready on first use: its own dependencies, and keepup bundled from source. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { cleanEnvironment } from "./process.mjs"

export const benchFolder = dirname(dirname(fileURLToPath(import.meta.url)))
export const repository = dirname(benchFolder)
const modules = join(benchFolder, "node_modules")

/** Installs when there is nothing installed, or something else than the lockfile says. */
export function installOnFirstUse() {
  const lock = readFileSync(join(benchFolder, "pnpm-lock.yaml"), "utf8")
  const stamp = join(modules, ".bench-lock")
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return
  console.error("Installing the bench's own dependencies. better-sqlite3 may be compiled, which takes a minute or two.")
  const headers = dirname(dirname(process.execPath))
  const local = existsSync(join(headers, "include", "node", "node.h")) ? { npm_config_nodedir: headers } : {}
  const options = { stdio: ["ignore", 2, 2], env: { ...cleanEnvironment(local), CI: "true" }, cwd: benchFolder }
  const install = ["--dir", benchFolder, "install", "--frozen-lockfile"]
  let done = spawnSync("pnpm", install, options)
  if (done.error?.code === "ENOENT") done = spawnSync("npx", ["-y", "pnpm@12.18.0", ...install], options)
  if (done.status !== 0) throw new Error("The bench's dependencies could not be installed; see above.")
  writeFileSync(stamp, lock)
}

/** Natively loaded or optional: resolved at run time from the bench's own node_modules. */
const external = ["@photostructure/sqlite", "pg"]

/** Bundles one file that uses keepup's source; null when keepup does not have what the file imports yet. */
export async function bundle(entry, format, { minify = false } = {}) {
  const esbuild = await import("esbuild")
  const extension = format === "cjs" ? "cjs" : "mjs"
  const name = `${entry.replace(/[\\/]/g, "-").replace(/\.\w+$/, "")}.${extension}`
  const outfile = join(benchFolder, "dist", name)
  mkdirSync(dirname(outfile), { recursive: true })
  try {
    await esbuild.build({
      entryPoints: [join(benchFolder, entry)],
      outfile,
      bundle: true,
      platform: "node",
      target: "node20",
      format,
      minify,
      conditions: ["@ku0/source"],
      external,
      logLevel: "silent",
      banner: { js: banners[format] },
      define: format === "cjs" ? { "import.meta.url": "benchFileUrl" } : {},
    })
    return outfile
  } catch (error) {
    console.error(`keepup could not be bundled for ${entry}:\n${error.message.split("\n").slice(0, 6).join("\n")}`)
    return null
  }
}

/** What an ES module lacks of CommonJS, and the other way round. */
const banners = {
  esm: 'import { createRequire as benchCreateRequire } from "node:module"; const require = benchCreateRequire(import.meta.url);',
  cjs: 'const benchFileUrl = "file://" + __filename;',
}
