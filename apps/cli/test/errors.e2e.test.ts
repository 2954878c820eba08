/** Every code of the table, made by a real command: its exit code, its JSON, its words, and where more is written down. */
import { once } from "node:events"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type ErrorCode, errorCodes } from "@ku0/agent-runtime"
import { afterAll, beforeAll, expect, it } from "vitest"
import { buildOnce, openPlace, type Place, program } from "./real-keepup.js"

let place: Place
const seen = new Set<ErrorCode>()

beforeAll(async () => {
  await buildOnce()
  place = openPlace()
  place.write("a.txt", "one\n")
  place.run("checkpoint", "create", "--name", "first")
})
afterAll(() => place.remove())

/** The same error as JSON and for people; no stack in either. */
function expectError(code: ErrorCode, words: readonly string[], message: RegExp): void {
  const { exit } = errorCodes[code]
  const json = place.run(...words, "--json")
  expect({ words, code: json.code }).toEqual({ words, code: exit })
  const answer = JSON.parse(json.out)
  expect(Object.keys(answer)).toEqual(["ok", "error"])
  expect(Object.keys(answer.error)).toEqual(["code", "message", "hint"])
  expect(answer).toMatchObject({ ok: false, error: { code, message: expect.stringMatching(message) } })
  const plain = place.run(...words)
  expect(plain).toMatchObject({ code: exit, out: "" })
  expect(plain.err).toMatch(new RegExp(`^error: [^]*\\[${code}\\]$`, "m"))
  expect(plain.err + json.err).not.toMatch(/^ +at /m)
  const isLogged = !["INVALID_INPUT", "NOT_FOUND", "SESSION_RUNNING", "CONFLICT"].includes(code)
  expect(/^More is in (.*keepup\.log)$/m.test(plain.err)).toBe(isLogged)
  seen.add(code)
}

it("says what was written wrong, what is not there, and what is in the way", () => {
  expectError("INVALID_INPUT", ["checkpoint", "restore", "first"], /Nobody can be asked here: Restore\?/)
  expectError("INVALID_INPUT", ["checkpoint", "list", "--limit", "many"], /--limit takes a whole number/)
  expectError("NOT_FOUND", ["checkpoint", "show", "second"], /has no checkpoint "second"/)
  expectError("NOT_FOUND", ["checkpoint", "list", "-S", "nobody"], /There is no session "nobody"/)
  expectError("CONFLICT", ["checkpoint", "create", "--name", "first"], /named "first" already: #1/)
})

it("says who holds the session, and since when", async () => {
  const command = "touch on; while [ -e on ]; do sleep 0.05; done"
  const slow = [{ content: "x", toolCalls: [{ name: "run_command", arguments: { command } }] }]
  const child = place.start("run", "work", "--script", place.script(slow), "--approval", "auto", "-S", "latest")
  while (!existsSync(join(place.workspace, "on"))) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const held = new RegExp(`Held by run \\(pid ${child.pid} on .+\\) since \\d{4}-\\d\\d-\\d\\dT`)
  expectError("SESSION_RUNNING", ["checkpoint", "restore", "first", "--yes"], held)
  expectError("SESSION_RUNNING", ["rewind", "1", "--yes"], held)
  expectError("SESSION_RUNNING", ["checkpoint", "create"], /^Session [0-9a-f]{8} is in use\. Held by run/)
  expect(place.run("checkpoint", "create").err).toMatch(
    /since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \((just now|\d+ (s|min) ago)\)\./,
  )
  child.kill("SIGINT")
  expect((await once(child, "close"))[0]).toBe(errorCodes.CANCELLED.exit)
  seen.add("CANCELLED")
})

it("says that a store is damaged, too new, or can't be reached", async () => {
  const damaged = join(place.root, "damaged.db")
  writeFileSync(damaged, "this was a database once ".repeat(500))
  expectError("CORRUPT", ["session", "list", "--db", `sqlite:${damaged}`], /is not an SQLite database/)
  const newer = join(place.root, "newer.db")
  place.run("session", "list", "--db", `sqlite:${newer}`)
  const { openStore } = await import("@ku0/agent-runtime")
  const store = await openStore(`sqlite:${newer}`)
  await store.context.driver.run(`PRAGMA user_version = ${store.schemaVersion + 1}`)
  await store.close()
  expectError("STORE_TOO_NEW", ["session", "list", "--db", `sqlite:${newer}`], /newer/)
  expectError("UNAVAILABLE", ["session", "list", "--db", "postgres://127.0.0.1:1/none"], /can't be reached/)
})

it("says that a model wants a key", () => {
  expectError("UNAUTHORIZED", ["run", "hello", "--model", "anthropic/any"], /No key for anthropic\/any/)
})

it("calls a bug a bug, and keeps its stack in the log it names", () => {
  const broken = join(place.root, "broken.cjs")
  writeFileSync(broken, `Object.keys = () => { throw new TypeError("broken on purpose") }\n`)
  place.environment["NODE_OPTIONS"] = `--require=${broken}`
  const run = place.run("session", "list")
  delete place.environment["NODE_OPTIONS"]
  expect(run).toMatchObject({ code: 1, out: "" })
  expect(run.err).toMatch(
    /^error: broken on purpose \[INTERNAL\]\nThis is a bug in keepup; please report it\.\nMore is in /,
  )
  seen.add("INTERNAL")
  const log = join(place.root, "home/.local/state/keepup/logs/keepup.log")
  const codes = readFileSync(log, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line).code)
  expect([...new Set(codes)].sort()).toEqual(["CORRUPT", "INTERNAL", "STORE_TOO_NEW", "UNAUTHORIZED", "UNAVAILABLE"])
})

it("shows the stack if asked, by option or by environment", () => {
  expect(place.run("checkpoint", "show", "none", "--debug").err).toMatch(/^ +at /m)
  place.environment["KEEPUP_DEBUG"] = "1"
  expect(place.run("checkpoint", "show", "none").err).toMatch(/^ +at /m)
  expect(JSON.parse(place.run("checkpoint", "show", "none", "--json").out).error.code).toBe("NOT_FOUND")
  delete place.environment["KEEPUP_DEBUG"]
})

it("has made every code but the server's", () => {
  expect((Object.keys(errorCodes) as ErrorCode[]).filter((code) => !seen.has(code))).toEqual([])
  expect(existsSync(program)).toBe(true)
})
