/**
 * Becomes dist/main.cjs, which loads program.cjs, and dist/quick.cjs, which loads quick-program.cjs: with what V8 made
 * of it when it was built, if this is the same V8. That saves compiling, which is most of a start.
 */
const { readFileSync } = require("node:fs")
const { basename, join } = require("node:path")
const { Script } = require("node:vm")

const isMain = basename(__filename) === "main.cjs"
const file = join(__dirname, isMain ? "program.cjs" : basename(__filename).replace(".cjs", "-program.cjs"))

function readCache() {
  try {
    return readFileSync(
      join(__dirname, `${isMain ? cacheName() : basename(file, ".cjs")}-${process.versions.v8}.cache`),
    )
  } catch {
    return undefined // built with another Node: the program is compiled as any other
  }
}

/** What one of these needs is less to read than what all commands need. */
function cacheName() {
  const words = process.argv.slice(2, 5)
  return words.includes("list") ? "lists" : words.includes("create") ? "create" : "program"
}

function load(cachedData) {
  // one function with the parameters of a module around it, written so by the build, which writes ASCII only: nothing
  // is put together or decoded here
  const script = new Script(readFileSync(file, "latin1"), { filename: file, cachedData })
  const program = { exports: {}, import: (name) => import(name) }
  script.runInThisContext()(program.exports, require, program, file, __dirname)
  return { script, program: program.exports }
}

module.exports = process.env.KEEPUP_WARM_UP ? load(undefined) : load(readCache()).program
