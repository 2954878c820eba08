/**
 * Bundles an app with a `bin` into CommonJS files that need nothing of this workspace. Workspace packages and
 * devDependencies are inside; dependencies stay outside and are installed beside it. What is imported with `import()` lies
 * in a file of its own and is loaded when it is asked for: a start costs what the command needs, and no more.
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { build, transform } from "esbuild"
import { root } from "./workspace.mjs"

const target = "node20.20"

/** Returns the files it wrote, as absolute paths. */
export async function bundleApp(member) {
  const folder = join(root, member.folder)
  const programs = new Set(Object.values(member.manifest.bin).map((path) => resolve(folder, path)))
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: member.entries.map(({ source, output }) => ({ in: source, out: basename(output, ".cjs") })),
    outdir: "dist",
    outExtension: { ".js": ".cjs" },
    chunkNames: "[name]-[hash]",
    write: false,
    bundle: true,
    splitting: true, // esbuild splits ES modules only; each piece becomes CommonJS below
    format: "esm",
    conditions: ["@ku0/source"],
    external: Object.keys(member.manifest.dependencies ?? {}).flatMap((name) => [name, `${name}/*`]),
    platform: "node",
    target,
    define: { "import.meta.url": "__filename", KEEPUP_VERSION: JSON.stringify(member.manifest.version) },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "warning",
    jsx: "automatic",
  })
  return await Promise.all(
    outputFiles.map(async ({ path, text }) => {
      const { code } = await transform(text, {
        format: "cjs",
        platform: "node",
        target,
        supported: { "dynamic-import": false }, // require() is faster: the loader of ES modules need not start
        minifySyntax: true,
        minifyWhitespace: true,
      })
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, code)
      if (programs.has(path)) chmodSync(path, 0o755)
      return path
    }),
  )
}
