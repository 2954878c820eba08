/** docs/cli.md, made from the commands: `node scripts/generate-cli-docs.mjs` writes it; the docs check compares it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { build } from "esbuild"
import { screenElsewhere } from "./bundle-screen.mjs"
import { root } from "./workspace.mjs"

const page = join(root, "docs/cli.md")

export async function renderCliDocs() {
  const folder = mkdtempSync(join(tmpdir(), "keepup-docs-"))
  const outfile = join(folder, "cli-docs.cjs")
  try {
    await build({
      entryPoints: [join(root, "apps/cli/src/cli-docs.ts")],
      outfile,
      bundle: true,
      conditions: ["@ku0/source"],
      external: ["@photostructure/sqlite", "pg", "@ku0/agent-runtime-integrations", "@ku0/cowork"],
      plugins: [screenElsewhere()],
      format: "cjs",
      platform: "node",
      target: "node20.20",
      define: { "import.meta.url": "__filename" },
      logLevel: "warning",
    })
    return await createRequire(import.meta.url)(outfile).renderCliDocs()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The problem with docs/cli.md, if any. */
export async function checkCliDocs() {
  let text = ""
  try {
    text = readFileSync(page, "utf8")
  } catch (error) {
    if (error.code !== "ENOENT") throw error
  }
  return text === (await renderCliDocs()) ? [] : ["docs/cli.md is not what the commands say: run pnpm fix."]
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeFileSync(page, await renderCliDocs())
