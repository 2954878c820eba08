/** Runs commands of a built program in this process and writes V8's code cache beside it: `node warm-up.cjs DIST`. */
const { mkdtempSync, rmSync, writeFileSync } = require("node:fs")
const { tmpdir } = require("node:os")
const { join } = require("node:path")

const dist = process.argv[2]
const folder = mkdtempSync(join(tmpdir(), "keepup-warm-up-"))
const node = process.argv[0]

async function warmUp() {
  process.env.KEEPUP_WARM_UP = "1"
  const { script, program } = require(join(dist, "main.cjs"))
  const write = process.stdout.write
  process.stdout.write = () => true
  process.chdir(folder)
  writeFileSync("a.txt", "one\n")
  for (const words of [
    "checkpoint create -q",
    "checkpoint create -q",
    "checkpoint list",
    "session list",
    "checkpoint show 1",
    "checkpoint diff 1",
  ]) {
    process.argv = [
      node,
      join(dist, "keepup.cjs"),
      "--state-dir",
      join(folder, "../", `${folder}-state`),
      ...words.split(" "),
    ]
    await program.runMain()
    if (process.exitCode) throw new Error(`keepup ${words} ended with ${process.exitCode}`)
  }
  process.stdout.write = write
  writeFileSync(join(dist, `program-${process.versions.v8}.cache`), script.createCachedData())
}

warmUp().finally(() => {
  for (const path of [folder, `${folder}-state`]) rmSync(path, { recursive: true, force: true })
})
