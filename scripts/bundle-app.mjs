/**
 * Bundles an app with a `bin` into CommonJS files that need nothing of this workspace. Workspace packages and
 * devDependencies are inside; dependencies stay outside and are installed beside it. A start must cost little, so:
 * the entry is tiny, what it imports with `import()` is one file whose modules are initialised when they are asked for
 * (reading one file is faster than finding forty), and what is large and seldom needed lies apart.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { build, transform } from "esbuild"
import { buildPage } from "./build-page.mjs"
import { bundleScreen, screenElsewhere, withScreen } from "./bundle-screen.mjs"
import { directImports } from "./direct-imports.mjs"
import { root } from "./workspace.mjs"

/** Large and seldom needed: package → the file it lies in. */
const apart = { zod: "zod", "@ku0/agent-runtime-integrations": "models", "@ku0/cowork": "cowork" }
const target = "node20.20"
const minified = { minifyIdentifiers: true, minifySyntax: true, minifyWhitespace: true, legalComments: "none" }
/** require() is faster than import(): the loader of ES modules need not start. */
const supported = { "dynamic-import": false }

/** Returns the files it wrote, as absolute paths. */
export async function bundleApp(member) {
  const folder = join(root, member.folder)
  const [{ source, output }] = member.entries
  const common = {
    absWorkingDir: folder,
    outdir: "dist",
    outExtension: { ".js": ".cjs" },
    write: false,
    bundle: true,
    conditions: ["@ku0/source"],
    external: Object.keys(member.manifest.dependencies ?? {}).flatMap((name) => [name, `${name}/*`]),
    platform: "node",
    target,
    define: { "import.meta.url": "__filename", KEEPUP_VERSION: JSON.stringify(member.manifest.version) },
    logLevel: "warning",
    jsx: "automatic",
    ...minified,
  }
  const oneFile = (entryPoints, plugins) => build({ ...common, entryPoints, plugins, format: "cjs", supported })
  const page = buildPage("@ku0/cowork")
  const results = await Promise.all([
    oneFile([{ in: source, out: basename(output, ".cjs") }], [elsewhere({ "./run-main.js": "main" })]),
    oneFile([{ in: "src/run-main.ts", out: "program" }], [elsewhere(apart), screenElsewhere(), directImports()]),
    oneFile([{ in: "src/quick.ts", out: "quick-program" }], [elsewhere(apart), directImports()]),
    bundleScreen(common),
    ...Object.entries(apart).map(([name, out]) => splitFile(common, folder, name, out)),
  ])
  const dist = resolve(folder, dirname(output))
  mkdirSync(dist, { recursive: true })
  const written = results
    .flatMap(({ outputFiles }) => outputFiles)
    .map(({ path, text }) => {
      const code = path.endsWith(".mjs") ? text : toAscii(withLateModules(withScreen(text)))
      writeFileSync(path, path.endsWith("program.cjs") ? asFunction(code) : code)
      return path
    })
  chmodSync(resolve(folder, output), 0o755)
  copyPage(await page, join(dist, "page"))
  const loaders = ["main.cjs", "quick.cjs"].map((name) => join(dist, name))
  for (const loader of loaders) copyFileSync(join(root, "scripts/load-program.cjs"), loader)
  return [...written, ...loaders, ...warmUp(dist)]
}

/** The page lies beside the server that serves it. */
function copyPage(built, place) {
  rmSync(place, { recursive: true, force: true })
  if (built !== undefined) cpSync(built, place, { recursive: true })
}

/**
 * Runs a few commands and keeps what V8 made of the program, beside it: with that, a start of the same Node compiles
 * nothing. Another Node does not find it under its name, and compiles as ever.
 */
function warmUp(dist) {
  const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts/warm-up.cjs"), dist], {
    encoding: "utf8",
  })
  if (status !== 0) throw new Error(`The program could not be warmed up: ${stderr}`)
  return ["program", "lists", "create", "quick-program"].map((name) =>
    join(dist, `${name}-${process.versions.v8}.cache`),
  )
}

/** A package in files of its own, each loaded when it is needed. esbuild splits ES modules only; the rest is one step more. */
async function splitFile(common, folder, name, out) {
  const { outputFiles } = await build({
    ...common,
    stdin: {
      contents: `export * from ${JSON.stringify(name)}`,
      resolveDir: name === "zod" ? join(root, "packages/agent-runtime-core") : folder,
      sourcefile: out,
    },
    entryNames: out,
    chunkNames: `${out}-[hash]`,
    splitting: true,
    format: "esm",
  })
  const files = outputFiles.map(async ({ path, text }) => {
    const { code } = await transform(text, { format: "cjs", platform: "node", target, supported, ...minified })
    return { path, text: code }
  })
  return { outputFiles: await Promise.all(files) }
}

/** Imports of these names are left to a file beside the one that imports them. */
function elsewhere(files) {
  return {
    name: "keepup:elsewhere",
    setup(plugin) {
      plugin.onResolve({ filter: /./ }, ({ path }) =>
        Object.hasOwn(files, path) ? { path: `./${files[path]}.cjs`, external: true } : undefined,
      )
    },
  }
}

/**
 * Node's own modules are loaded when something of them is first used: child_process alone brings net and streams along,
 * and takes a fifth of the time Node needs to start. A function that was asked for once is found without asking again.
 */
function withLateModules(code) {
  const late = code.replace(/(\b\w+)=(?:__)?require\("(node:[\w/]+)"\)(?=[,;])/g, '$1=__late("$2")')
  if (late === code) return code
  const helper =
    "const __made={},__late=(id,found)=>__made[id]??=Object.create(new Proxy({},{get:(_,key,self)=>{" +
    "const value=(found??=require(id))[key];" +
    "if(typeof value=='function')Object.defineProperty(self,key,{value,writable:true});return value}}));"
  const [first, ...rest] = late.split("\n")
  return first.startsWith("#!") ? [first, helper + rest.join("\n")].join("\n") : helper + late
}

/** As a module's code is called by Node; what loads the program then need not copy it to put this around it. */
function asFunction(code) {
  return `(function(exports,require,module,__filename,__dirname){${code}\n})`
}

/** esbuild writes other characters as they are in regular expressions; escaped they mean the same, and need no decoding. */
function toAscii(code) {
  return code.replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
}
