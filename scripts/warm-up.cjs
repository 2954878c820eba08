/**
 * Runs commands of a built program and writes V8's code caches beside it: `node warm-up.cjs DIST`. One holds what lists
 * need, one what a checkpoint needs, which is less to read at their start; one what all of the commands here need, and
 * one what is loaded instead of the program to append an entry.
 */
const { spawnSync } = require("node:child_process")
const { mkdtempSync, rmSync, writeFileSync } = require("node:fs")
const { tmpdir } = require("node:os")
const { join } = require("node:path")

const [node, self, dist, given, which] = process.argv
const parts = { lists: ["checkpoint list", "session list"], create: ["checkpoint create"] }
const all = ["checkpoint create -q", ...parts.create, ...parts.lists, "checkpoint show 1", "checkpoint diff 1"]

async function run(folder, commands, name) {
  process.env.KEEPUP_WARM_UP = "1"
  const { script, program } = require(join(dist, "main.cjs"))
  const write = process.stdout.write
  process.stdout.write = () => true
  process.chdir(folder)
  for (const words of commands) {
    process.argv = [node, join(dist, "keepup.cjs"), "--state-dir", `${folder}-state`, ...words.split(" ")]
    await program.runMain()
    if (process.exitCode) throw new Error(`keepup ${words} ended with ${process.exitCode}`)
  }
  process.stdout.write = write
  keep(script, name)
}

async function append(folder) {
  process.env.KEEPUP_WARM_UP = "1"
  const { script, program } = require(join(dist, "quick.cjs"))
  const { openLog, placesIn } = program
  const { db } = placesIn(`${folder}-state`, { storage: "user", workspacePath: folder })
  const store = await openLog(db)
  const [session] = await store.sessions.list({ limit: 1 })
  await store.log.append(session.id, [{ type: "agent:spawned", data: { agentType: "warm-up" } }])
  keep(script, "quick-program")
}

function keep(script, name) {
  writeFileSync(join(dist, `${name}-${process.versions.v8}.cache`), script.createCachedData())
}

async function warmUp() {
  const folder = mkdtempSync(join(tmpdir(), "keepup-warm-up-"))
  try {
    writeFileSync(join(folder, "a.txt"), "one\n")
    spawnSync("git", ["init", "-q"], { cwd: folder })
    await run(folder, all, "program")
    writeFileSync(join(folder, "a.txt"), "two\n")
    for (const name of [...Object.keys(parts), "quick"]) {
      // a process of its own: what this one has compiled would be part of it
      const { status, stderr } = spawnSync(node, [self, dist, folder, name], { encoding: "utf8" })
      if (status !== 0) throw new Error(`${name} could not be warmed up: ${stderr}`)
    }
  } finally {
    for (const path of [folder, `${folder}-state`]) rmSync(path, { recursive: true, force: true })
  }
}

if (given === undefined) warmUp()
else if (which === "quick") append(given)
else run(given, parts[which], which)
