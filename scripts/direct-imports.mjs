/**
 * An esbuild plugin: an import from one of our packages becomes imports from the files that define the names. esbuild
 * splits a program by the files that reach each other, and whoever imports one name of a package's index reaches all of
 * it; with this, a command loads what it uses.
 */
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { listMembers, root } from "./workspace.mjs"

export function directImports() {
  const entries = new Map(
    listMembers().flatMap(({ name, folder, entries: all }) =>
      all.map(({ subpath, source }) => [join(name, subpath), join(root, folder, source)]),
    ),
  )
  const known = new Map()

  /** Name → the file that defines it, of everything a file exports. */
  function exportsOf(file) {
    const found = known.get(file)
    if (found !== undefined) return found
    const names = new Map()
    known.set(file, names)
    const text = readFileSync(file, "utf8")
    for (const [, name] of text.matchAll(/^export (?:async )?(?:function\*?|const|let|class) (\w+)/gm))
      names.set(name, file)
    for (const [, list, from] of text.matchAll(/^export \{([^}]*)\}(?: from "([^"]+)")?/gm)) {
      const source = from === undefined ? undefined : find(file, from)
      for (const { imported, local } of readNames(list)) {
        const inner = source === undefined ? undefined : exportsOf(source).get(imported)
        // a name that is changed on the way is only known here
        names.set(local, inner !== undefined && imported === local ? inner : file)
      }
    }
    for (const [, from] of text.matchAll(/^export \* from "([^"]+)"/gm)) {
      const source = find(file, from)
      if (source !== undefined)
        for (const [name, place] of exportsOf(source)) if (!names.has(name)) names.set(name, place)
    }
    return names
  }

  function find(file, specifier) {
    if (!specifier.startsWith(".")) return entries.get(specifier)
    const path = resolve(dirname(file), specifier).replace(/\.js$/, ".ts")
    return existsSync(path) ? path : undefined
  }

  return {
    name: "keepup:direct-imports",
    setup(plugin) {
      plugin.onLoad({ filter: /\/(packages|apps)\/[^/]+\/src\/.*\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, "utf8")
        const contents = text.replace(/^import \{([^}]*)\} from "(@ku0\/[^"]+)"/gm, (whole, list, specifier) => {
          const entry = entries.get(specifier)
          if (entry === undefined) return whole
          const names = readNames(list)
          const places = names.map(({ imported }) => exportsOf(entry).get(imported))
          if (places.includes(undefined)) return whole
          return names.map(({ text: one }, i) => `import { ${one} } from ${JSON.stringify(places[i])}`).join(";")
        })
        return { contents, loader: "ts" }
      })
    },
  }
}

/** The values of `{ a, type B, c as d }`; types are gone when the program runs. */
function readNames(list) {
  return list
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "" && !text.startsWith("type "))
    .map((text) => {
      const [imported, local = imported] = text.split(/\s+as\s+/)
      return { imported, local, text }
    })
}
