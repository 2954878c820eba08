/**
 * The screen of the chat, apart from the rest of the program: what draws it comes as ES modules that wait while they
 * load, which CommonJS can't. The program imports it when the chat is opened.
 */
import { build } from "esbuild"

const file = "screen.mjs"
const source = "src/tui/views/open-screen.tsx"

export function bundleScreen(common) {
  const { "import.meta.url": _, ...define } = common.define
  return build({
    ...common,
    entryPoints: [{ in: source, out: file.replace(".mjs", "") }],
    outExtension: { ".js": ".mjs" },
    format: "esm",
    plugins: [withoutDevelopersTools(), onAnyTerminal()],
    define: {
      ...define,
      "process.env.NODE_ENV": '"production"',
      "process.env.DEV": '"false"',
      // the layout engine would fetch itself out of the text it is in, for which Node loads all of HTTP
      fetch: "undefined",
    },
    // packages in CommonJS ask for Node's own modules
    banner: { js: 'import{createRequire as from}from"node:module";const require=from(import.meta.url);' },
  })
}

/** For the program: the screen is a file beside it. */
export function screenElsewhere() {
  return {
    name: "keepup:screen",
    setup(plugin) {
      plugin.onResolve({ filter: /\/tui\/views\/open-screen\.js$/ }, ({ kind }) =>
        kind === "dynamic-import" ? { path: `./${file}`, external: true } : undefined,
      )
    },
  }
}

/** esbuild makes a require() of every import() in the program; what loads the program hands this one in. */
export function withScreen(code) {
  return code.replace(/[\w$]+\(require\("(\.\/screen\.mjs)"\)(?:,1)?\)/g, 'module.import("$1")')
}

/** A tool to look at components while they are written; it is not installed. */
function withoutDevelopersTools() {
  return {
    name: "keepup:without-developers-tools",
    setup(plugin) {
      plugin.onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: "nothing" }))
      plugin.onLoad({ filter: /./, namespace: "nothing" }, () => ({ contents: "export default undefined" }))
    },
  }
}

/** Ink draws nothing where `CI` is set. The chat opens on a terminal only, and there someone looks. */
function onAnyTerminal() {
  return {
    name: "keepup:on-any-terminal",
    setup(plugin) {
      plugin.onResolve({ filter: /^is-in-ci$/ }, ({ path }) => ({ path, namespace: "never" }))
      plugin.onLoad({ filter: /./, namespace: "never" }, () => ({ contents: "export default false" }))
    },
  }
}
