/** What a hook of another agent will be made of: the built file that appends an entry without loading the program. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest"
import { buildOnce, openPlace, type Place, program } from "./real-keepup.js"

const quick = join(dirname(program), "quick.cjs")

let place: Place
let hook: string

beforeAll(buildOnce)
beforeEach(() => {
  place = openPlace()
  hook = join(place.root, "hook.cjs")
  writeFileSync(
    hook,
    `const { findStateDirectory, openLog, placesIn } = require(${JSON.stringify(quick)})
    async function hook(happened, then) {
      const stateDirectory = findStateDirectory({ environment: process.env, homeDirectory: process.env.HOME })
      const store = await openLog(placesIn(stateDirectory, { storage: "user", workspacePath: process.cwd() }).db)
      if (store === undefined) return console.log(JSON.stringify({ isReady: false }))
      const [session] = await store.sessions.list({ workspacePath: process.cwd(), limit: 1 })
      const [entry] = await store.log.append(session.id, [{ type: "agent:spawned", data: { agentType: happened } }])
      require("node:fs").writeSync(1, JSON.stringify({ seq: entry.seq }) + "\\n")
      if (then === "killed") process.kill(process.pid, "SIGKILL")
      if (then === "loaded") console.log(JSON.stringify(process.moduleLoadList))
      process.exit()
    }
    hook(...process.argv.slice(2))`,
  )
})
afterEach(() => place.remove())

function call(...words: string[]): { answers: unknown[]; err: string } {
  const options = { cwd: place.workspace, env: place.environment, encoding: "utf8" as const }
  const { stdout, stderr } = spawnSync(process.execPath, [hook, ...words], options)
  return { answers: stdout.split("\n").flatMap((line) => (line === "" ? [] : JSON.parse(line))), err: stderr }
}

it("says that there is nothing to append to yet, and makes nothing", () => {
  expect(call("early").answers).toEqual([{ isReady: false }])
  expect(place.ask("session", "list").sessions).toEqual([])
})

it("keeps what it answered although it is killed at once, and keepup goes on after it", () => {
  place.run("checkpoint", "create")
  expect(call("one", "killed").answers).toEqual([{ seq: 3 }])
  expect(call("two").answers).toEqual([{ seq: 4 }])
  expect(place.run("checkpoint", "create").code).toBe(0)
  expect(call("three").answers).toEqual([{ seq: 6 }])
  expect(place.run("doctor")).toMatchObject({ code: 0 })
})

it("gives every one of many at once a number of its own, without a gap", async () => {
  place.run("session", "new", "busy")
  const calls = Array.from({ length: 12 }, async (_, i) => {
    const child = spawn(process.execPath, [hook, `agent ${i}`], { cwd: place.workspace, env: place.environment })
    let out = ""
    child.stdout.on("data", (chunk) => {
      out += chunk
    })
    await once(child, "close")
    return JSON.parse(out).seq as number
  })
  expect((await Promise.all(calls)).sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => i + 2))
  expect(place.run("doctor")).toMatchObject({ code: 0 })
})

it("loads none of Node's modules that take long to load", () => {
  place.run("session", "new", "light")
  const empty = spawnSync(process.execPath, ["-p", "JSON.stringify(process.moduleLoadList)"], { encoding: "utf8" })
  const before = new Set<string>(JSON.parse(empty.stdout))
  const { answers, err } = call("x".repeat(4_000), "loaded")
  expect(err).toBe("")
  const loaded = answers.slice(1).filter((name) => !before.has(name as string))
  for (const heavy of ["crypto", "zlib", "stream", "net", "child_process", "http"])
    expect(loaded).not.toContain(`NativeModule ${heavy}`)
})
