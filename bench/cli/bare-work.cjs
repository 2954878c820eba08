/**
 * A floor for `keepup checkpoint create`: the bare work of keeping one changed file of a folder durably, in Node, without
 * history, formats, settings, guards or output. Looks at every file, hashes one, writes it and its name durably, inserts
 * one row, closes, ends. Called with the workspace, a folder of its own, and the SQLite library.
 */
const { createHash } = require("node:crypto")
const fs = require("node:fs")

const [workspace, folder, sqlite] = process.argv.slice(2)
let newest = { path: "", mtimeMs: 0 }
for (const name of fs.readdirSync(workspace)) {
  if (name === ".git") continue
  for (const file of fs.readdirSync(`${workspace}/${name}`)) {
    const path = `${workspace}/${name}/${file}`
    const { mtimeMs } = fs.lstatSync(path)
    if (mtimeMs > newest.mtimeMs) newest = { path, mtimeMs }
  }
}
const bytes = fs.readFileSync(newest.path)
const id = createHash("sha1").update(bytes).digest("hex")
const kept = fs.openSync(`${folder}/${id}.new`, "w")
fs.writeSync(kept, bytes)
fs.fsyncSync(kept)
fs.closeSync(kept)
fs.renameSync(`${folder}/${id}.new`, `${folder}/${id}`)
const names = fs.openSync(folder, "r")
fs.fsyncSync(names)
fs.closeSync(names)
const library = { exports: {} }
process.dlopen(library, sqlite)
const { DatabaseSync } = library.exports
const database = new DatabaseSync(`${folder}/rows.db`)
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS kept (id, path)")
database.prepare("INSERT INTO kept VALUES (?, ?)").run(id, newest.path)
database.close()
process.reallyExit(0)
