/**
 * The main job, until the command line has its demo: a session is written to by a process that is killed with SIGKILL
 * again and again, and nothing it was told was kept is missing. Exits non-zero if anything is.
 */
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "./workspace.mjs"

const rounds = 3
const library = join(root, "packages/agent-runtime-persistence/dist/index.js")

const built = spawnSync(process.execPath, [join(root, "scripts/build.mjs"), "agent-runtime-persistence"], {
  stdio: ["ignore", "inherit", "inherit"],
})
if (built.status !== 0) process.exit(1)
const { openStore } = await import(library)

const folder = mkdtempSync(join(tmpdir(), "keepup-start-"))
const url = `sqlite:${join(folder, "keepup.db")}`

try {
  await show()
  rmSync(folder, { recursive: true })
} catch (error) {
  console.error(`\nFAILED: ${error instanceof Error ? error.message : error}\nThe store is left in ${folder}.`)
  process.exitCode = 1
}

async function show() {
  console.log("\nkeepup: what was acknowledged survives kill -9\n")
  const sessionId = await createSession()
  const acknowledged = []
  let kept = 0
  for (let round = 1; round <= rounds; round++) {
    const told = await appendUntilKilled(sessionId, kept)
    for (const number of told) acknowledged.push(number)
    const messages = await readMessages(sessionId)
    compare(acknowledged, messages)
    const unspoken = messages.length - kept - told.length
    kept = messages.length
    console.log(
      `  kill ${round}: a process appended, acknowledged ${told.length} messages and was killed. ` +
        `Reopened: ${kept} in the log, none missing${unspoken > 0 ? ` (${unspoken} written but not yet acknowledged)` : ""}.`,
    )
  }
  console.log(
    `\nAll ${acknowledged.length} acknowledged messages are there, in order, unchanged, without a gap. ` +
      "Each process took over the lease of the killed one before it, at once.",
  )
}

async function createSession() {
  const store = await openStore(url)
  const session = await store.sessions.create({ workspacePath: folder, name: "survives kill -9" })
  await store.close()
  console.log(`  session ${session.id.slice(-8)} created in a new SQLite store`)
  return session.id
}

/** Starts a process that appends, kills it at a random moment, and returns the numbers it had acknowledged by then. */
function appendUntilKilled(sessionId, first) {
  return new Promise((resolve, reject) => {
    const args = [join(root, "scripts/start-appender.mjs"), library, url, sessionId, String(first)]
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
    const tooLong = setTimeout(() => child.kill("SIGKILL"), 30_000)
    let output = ""
    let isAimed = false
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (text) => {
      output += text
      if (isAimed) return
      isAimed = true
      setTimeout(() => child.kill("SIGKILL"), 100 + Math.random() * 200)
    })
    child.on("error", reject)
    child.on("close", (status, signal) => {
      clearTimeout(tooLong)
      // A last line without its end was not said in full: it does not count as acknowledged.
      const numbers = output.split("\n").slice(0, -1).map(Number)
      if (signal !== "SIGKILL") reject(new Error(`the appending process ended by itself (${status ?? signal})`))
      else if (numbers.length === 0) reject(new Error("the appending process acknowledged nothing in 30 s"))
      else resolve(numbers)
    })
  })
}

/** The messages of the log as another process finds them; also proves that `seq` has no gap. */
async function readMessages(sessionId) {
  const store = await openStore(url)
  try {
    const entries = []
    for (;;) {
      const page = await store.log.read(sessionId, { after: entries.at(-1)?.seq ?? 0, limit: 500 })
      if (page.length === 0) break
      for (const entry of page) entries.push(entry)
    }
    const gap = entries.findIndex((entry, index) => entry.seq !== entries[0].seq + index)
    if (gap >= 0) throw new Error(`seq jumps from ${entries[gap - 1].seq} to ${entries[gap].seq}`)
    return entries.filter((entry) => entry.type === "message:added").map((entry) => entry.data.message.content)
  } finally {
    await store.close()
  }
}

function compare(acknowledged, messages) {
  const found = new Set(messages)
  const missing = acknowledged.filter((number) => !found.has(`message ${number}`))
  if (missing.length > 0) throw new Error(`acknowledged, but not in the log: ${missing.join(", ")}`)
  const wrong = messages.findIndex((content, index) => content !== `message ${index}`)
  if (wrong >= 0) throw new Error(`message ${wrong} is not what was appended: ${JSON.stringify(messages[wrong])}`)
}
