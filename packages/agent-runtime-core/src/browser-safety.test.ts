/** Core runs in a browser too, and its main entry loads without zod. */
import { builtinModules } from "node:module"
import { fileURLToPath } from "node:url"
import { build, type Metafile } from "esbuild"
import { describe, expect, test } from "vitest"

async function bundle(entry: string): Promise<{ code: string; metafile: Metafile }> {
  const result = await build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    conditions: ["@ku0/source"],
    logLevel: "silent",
  })
  return { code: result.outputFiles[0]?.text ?? "", metafile: result.metafile }
}

function inputsFrom(metafile: Metafile, packageName: string): string[] {
  return Object.keys(metafile.inputs).filter((path) => path.includes(`node_modules/${packageName}/`))
}

function builtinsIn(metafile: Metafile): string[] {
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports.map(({ path }) => path))
  return imports.filter((path) => path.startsWith("node:") || builtinModules.includes(path))
}

describe("index.ts", () => {
  test("bundles for a browser without a Node module and without any package", async () => {
    const { metafile } = await bundle("./index.ts")
    expect(builtinsIn(metafile)).toEqual([])
    expect(inputsFrom(metafile, "zod")).toEqual([])
    expect(Object.keys(metafile.inputs).filter((path) => path.includes("node_modules"))).toEqual([])
  })

  test("does not read clock, chance or environment of the machine, and does not print", async () => {
    const { code } = await bundle("./index.ts")
    expect(code).not.toMatch(
      /\b(process|Buffer|require|globalThis|console|performance|setTimeout|setInterval)\b\s*[.(]/,
    )
    expect(code).not.toMatch(/Date\.now|new Date|Math\.random|crypto\./)
  })

  test("runs where there is nothing but the language", async () => {
    const { code } = await bundle("./index.ts")
    const core = await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`)
    expect(core.foldHistory([]).phase).toBe("idle")
    expect(core.isKeepupError(new core.KeepupError("CONFLICT", "Changed."))).toBe(true)
  })
})

describe("schemas.ts", () => {
  test("bundles for a browser with zod and without a Node module", async () => {
    const { metafile } = await bundle("./schemas.ts")
    expect(builtinsIn(metafile)).toEqual([])
    expect(inputsFrom(metafile, "zod").length).toBeGreaterThan(0)
  })
})
