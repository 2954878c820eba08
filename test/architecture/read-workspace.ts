/** The members of the workspace and their sources, as they lie on disk. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Member } from "./find-violations.js"
import type { SourceFile } from "./parse-source.js"

export const root = fileURLToPath(new URL("../..", import.meta.url))

export interface WorkspaceMember extends Member {
  /** Names of the workspace members its package.json lists for those who install it. */
  readonly needs: readonly string[]
  /** Folders its tsconfig.json refers to. */
  readonly references: readonly string[]
}

export function readMembers(): WorkspaceMember[] {
  return ["packages", "apps"].flatMap((group) =>
    listNames(group)
      .filter((name) => existsSync(join(root, group, name, "package.json")))
      .map((name) => readMember(`${group}/${name}`)),
  )
}

export function readSources(members: readonly Member[]): SourceFile[] {
  return members.flatMap(({ folder }) =>
    ["src", "test"].flatMap((part) => {
      const base = join(root, folder, part)
      if (!existsSync(base)) return []
      return readdirSync(base, { recursive: true, encoding: "utf8" })
        .filter((path) => /\.tsx?$/.test(path) && !path.includes("fixtures"))
        .map((path) => ({ path: `${folder}/${part}/${path}`, text: readFileSync(join(base, path), "utf8") }))
    }),
  )
}

/** Folders that tsconfig.json in `folder` refers to, from the root. */
export function readReferences(folder: string): string[] {
  const file = join(root, folder, "tsconfig.json")
  if (!existsSync(file)) return []
  const { references = [] } = JSON.parse(readFileSync(file, "utf8")) as { references?: { path: string }[] }
  return references.map(({ path }) => join(folder, path)).sort()
}

function listNames(group: string): string[] {
  return existsSync(join(root, group)) ? readdirSync(join(root, group)).sort() : []
}

function readMember(folder: string): WorkspaceMember {
  const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as {
    name: string
    exports?: Record<string, { "@ku0/source"?: string }>
    dependencies?: Record<string, string>
    optionalDependencies?: Record<string, string>
    peerDependencies?: Record<string, string>
    devDependencies?: Record<string, string>
    bin?: Record<string, string>
  }
  // an app with a `bin` is bundled: what its bundle takes in is a devDependency, and installed with it all the same
  const bundled = manifest.bin === undefined ? {} : manifest.devDependencies
  const installed = {
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
    ...bundled,
  }
  const sources = Object.values(manifest.exports ?? {}).flatMap((target) => target["@ku0/source"] ?? [])
  return {
    name: manifest.name,
    folder,
    dependencies: Object.keys(installed),
    needs: Object.keys(installed).filter((name) => installed[name]?.startsWith("workspace:")),
    entries: sources.flatMap((source) => expand(folder, join(folder, source))),
    references: readReferences(folder),
  }
}

function expand(folder: string, pattern: string): string[] {
  if (!pattern.includes("*")) return [pattern]
  const [before = "", after = ""] = pattern.split("*")
  return readSources([{ name: "", folder, dependencies: [], entries: [] }])
    .map(({ path }) => path)
    .filter((path) => path.startsWith(before) && path.endsWith(after))
}
