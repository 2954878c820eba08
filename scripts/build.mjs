/**
 * Builds one package or app with what it needs, or all of them: `node scripts/build.mjs [name]`. With `--bundle` after it,
 * the bundle of one app alone, from the sources: what the tests of the program need.
 * JavaScript by esbuild (one entry for each `exports` subpath with a "@ku0/source", npm and workspace packages left outside;
 * an app with a `bin` becomes bundles instead), declarations by `tsc -b`. What an earlier build left and this one did not write is removed.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, rmSync } from "node:fs"
import { join, normalize, relative, resolve } from "node:path"
import { build } from "esbuild"
import { buildPage } from "./build-page.mjs"
import { bundleApp } from "./bundle-app.mjs"
import { findMember, listMembers, membersFor, root } from "./workspace.mjs"

const started = Date.now()
const wanted = process.argv[2]
const isBundle = process.argv[3] === "--bundle"
const members = wanted === undefined ? listMembers() : isBundle ? [findMember(wanted)] : membersFor(wanted)
const present = members.filter((member) => member.hasContent)
for (const member of members) if (!member.hasContent) console.log(`${member.folder}: nothing to build yet`)

try {
  await Promise.all(present.map((member) => (member.manifest.bin ? bundleProgram(member) : bundle(member))))
  if (!isBundle) declare(present)
  console.log(
    `Built ${present.map((member) => member.folder).join(", ")} in ${((Date.now() - started) / 1000).toFixed(1)} s`,
  )
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function bundle(member) {
  const folder = join(root, member.folder)
  const entries = member.entries.filter((entry) => existsSync(join(folder, entry.source)))
  const result = await build({
    absWorkingDir: folder,
    entryPoints: entries.map((entry) => entry.source),
    outbase: "src",
    outdir: "dist",
    bundle: true,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    packages: "external",
    format: "esm",
    platform: "node",
    target: "node20.20",
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: "warning",
    jsx: "automatic",
  })
  const written = new Set(Object.keys(result.metafile.outputs).map((path) => resolve(folder, path)))
  for (const entry of entries) {
    if (written.has(resolve(folder, entry.output))) continue
    throw new Error(
      `${member.folder}: exports["${entry.subpath}"].default is ${normalize(entry.output)}, which the build does not write.`,
    )
  }
  removeStale(join(folder, "dist"), /\.js(\.map)?$/, (path) => written.has(path))
  await buildPage(member.name)
}

async function bundleProgram(member) {
  const written = new Set(await bundleApp(member))
  removeStale(join(root, member.folder, "dist"), /\.([cm]?js(\.map)?|cache)$/, (path) => written.has(path))
}

function declare(members) {
  const projects = members
    .map((member) => member.folder)
    .filter((folder) => existsSync(join(root, folder, "tsconfig.json")))
  const tsc = join(root, "node_modules/typescript7/bin/tsc")
  const { status } = spawnSync(process.execPath, [tsc, "-b", ...projects], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  })
  if (status !== 0) throw new Error("The declarations were not built: see the type errors above.")
  for (const folder of projects) {
    const dist = join(root, folder, "dist")
    removeStale(dist, /\.d\.ts$/, (path) => {
      const source = join(root, folder, "src", relative(dist, path).replace(/\.d\.ts$/, ""))
      return existsSync(`${source}.ts`) || existsSync(`${source}.tsx`)
    })
  }
}

function removeStale(folder, pattern, isWanted) {
  if (!existsSync(folder)) return
  for (const item of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(item.parentPath ?? item.path, item.name)
    // what belongs to a page is made and cleaned up by its own tools
    if (/^page(-types)?\//.test(relative(folder, path))) continue
    if (item.isFile() && pattern.test(item.name) && !isWanted(path)) rmSync(path)
  }
}
