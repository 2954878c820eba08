/**
 * Finds the `DatabaseSync` class: Node's own where Node has it, else the prebuilt one of @photostructure/sqlite. The
 * prebuilt library is loaded directly, which takes a tenth of the time of its JavaScript wrapper.
 */
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { DatabaseSync } from "@photostructure/sqlite"

export type DatabaseSyncClass = typeof DatabaseSync

/** Made when it is needed, which for the prebuilt library is never. */
const load = (name: string) => createRequire(import.meta.url)(name)
/** In a bundle it is a path already. */
const here = import.meta.url.startsWith("file:") ? fileURLToPath(import.meta.url) : import.meta.url
let loaded: DatabaseSyncClass | undefined

export function loadSqlite(): DatabaseSyncClass {
  loaded ??= nodeHasSqlite(process.versions.node) ? loadNodeSqlite() : loadPrebuiltSqlite()
  return loaded
}

function nodeHasSqlite(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > 22 || (major === 22 && minor >= 13)
}

function loadNodeSqlite(): DatabaseSyncClass {
  const emitWarning = process.emitWarning
  process.emitWarning = () => undefined // Node 22 calls the module experimental on stderr, which hooks must keep clean
  try {
    return load("node:sqlite").DatabaseSync
  } finally {
    process.emitWarning = emitWarning
  }
}

function loadPrebuiltSqlite(): DatabaseSyncClass {
  const file = isMusl() ? undefined : findPrebuilt()
  if (file === undefined) return load("@photostructure/sqlite").DatabaseSync
  const module = { exports: {} as { DatabaseSync: DatabaseSyncClass } }
  process.dlopen(module, file)
  return module.exports.DatabaseSync
}

/** Looks in the folders Node would look in; asking Node itself takes longer than opening a database. */
function findPrebuilt(): string | undefined {
  const name = `@photostructure/sqlite/prebuilds/${process.platform}-${process.arch}/@photostructure+sqlite.glibc.node`
  for (let folder = dirname(here); ; folder = dirname(folder)) {
    const file = join(folder, "node_modules", name)
    if (existsSync(file)) return file
    if (dirname(folder) === folder) return undefined
  }
}

function isMusl(): boolean {
  return process.platform === "linux" && existsSync("/etc/alpine-release")
}
