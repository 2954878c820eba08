/** Law 8 with real deaths: an agent in a process of its own, killed with SIGKILL at random instants until it is through. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type EventDraft, type Message, pairToolCalls } from "@ku0/agent-runtime-core"
import { build } from "esbuild"
import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"

const here = dirname(fileURLToPath(import.meta.url))
const root = mkdtempSync(join(tmpdir(), "keepup-killed-"))
const program = join(root, "run-agent.mjs")

beforeAll(async () => {
  const entryPoints = [join(here, "programs/run-agent.ts")]
  const conditions = ["@ku0/source"]
  await build({
    entryPoints,
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    conditions,
    logLevel: "error",
  })
})
afterAll(() => rmSync(root, { recursive: true, maxRetries: 10 }))

const callArbitrary = fc.oneof(
  fc.constant({ name: "effect", arguments: {} }),
  fc
    .nat({ max: 2 })
    .map((file) => ({ name: "write_file", arguments: { path: `${file}.txt`, content: `text ${file}` } })),
  fc.constant({ name: "run_command", arguments: { command: "sleep 0.01; echo ran >>ran" } }),
  fc.constant({ name: "list_files", arguments: {} }),
)
const scriptArbitrary = fc.array(fc.array(callArbitrary, { minLength: 1, maxLength: 4 }), {
  minLength: 4,
  maxLength: 10,
})

/** When to die is counted in entries, so that a fast machine dies as often as a slow one; the milliseconds fall between them. */
const deathArbitrary = fc.record({ entries: fc.integer({ min: 1, max: 12 }), delay: fc.nat({ max: 12 }) })

test("keeps every acknowledged entry and every completed effect once, through any number of deaths", async () => {
  let deaths = 0
  // a machine on which runs are through before their time to die goes through more of them
  while (deaths < 30)
    await fc.assert(
      fc.asyncProperty(
        scriptArbitrary,
        fc.array(deathArbitrary, { minLength: 1, maxLength: 6 }),
        async (script, instants) => {
          const folder = mkdtempSync(join(root, "run-"))
          mkdirSync(join(folder, "workspace"))
          const lines = [...script.map((toolCalls) => ({ toolCalls })), { content: "end" }]
          writeFileSync(join(folder, "script.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"))
          for (const instant of instants) if (await runAndKill(folder, instant)) deaths++
          expect(await runToEnd(folder)).toBe(0)
          check(
            folder,
            script.flat().map(({ name }) => name),
          )
          rmSync(folder, { recursive: true, maxRetries: 10 }) // a command may outlive its agent for a moment
        },
      ),
      { numRuns: 30, endOnFailure: true },
    )
})

/** True if it was killed, false if it was through before. */
async function runAndKill(folder: string, instant: { entries: number; delay: number }): Promise<boolean> {
  const before = readLog(folder).length
  const child = spawn(process.execPath, [program, folder], { stdio: "ignore" })
  const ended = once(child, "exit")
  while (child.exitCode === null && readLog(folder).length < before + instant.entries)
    await new Promise((resolve) => setTimeout(resolve, 1))
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, instant.delay))])
  const acknowledged = readLog(folder).length
  child.kill("SIGKILL")
  const [, signal] = await ended
  expect(readLog(folder).length).toBeGreaterThanOrEqual(acknowledged)
  return signal === "SIGKILL"
}

async function runToEnd(folder: string): Promise<number> {
  const child = spawn(process.execPath, [program, folder], { stdio: ["ignore", "inherit", "inherit"] })
  return (await once(child, "exit"))[0]
}

function readLog(folder: string): EventDraft[] {
  const path = join(folder, "log.jsonl")
  const text = existsSync(path) ? readFileSync(path, "utf8") : ""
  const whole = text.slice(0, text.lastIndexOf("\n") + 1).split("\n")
  return whole.flatMap((line) => (line === "" ? [] : (JSON.parse(line) as EventDraft[])))
}

function check(folder: string, names: readonly string[]): void {
  const log = readLog(folder)
  const dataOf = (type: string) =>
    log
      .filter((entry) => entry.type === type)
      .map(({ data }) => data as { callId: string; name: string; choice?: string })
  const file = join(folder, "effects")
  // One that was killed right after it made the file left it empty.
  const effects = (existsSync(file) ? readFileSync(file, "utf8") : "").split("\n").filter((line) => line !== "")
  expect(new Set(effects).size).toBe(effects.length)
  for (const { callId, name, choice } of dataOf("tool:ended")) {
    if (name === "effect" && choice === undefined) expect(effects).toContain(callId)
  }
  const messages = dataOf("message:added").map((data) => (data as unknown as { message: Message }).message)
  expect(messages.flatMap((message) => (message.role === "tool" ? [message.name] : []))).toEqual(names)
  expect(pairToolCalls(messages)).toEqual(messages)
  const starts = dataOf("tool:started").filter(({ name }) => name === "run_command").length
  const ran = join(folder, "workspace/ran")
  expect(existsSync(ran) ? readFileSync(ran, "utf8").split("\n").length - 1 : 0).toBeLessThanOrEqual(starts)
  expect(
    readdirSync(join(folder, "workspace")).filter((name) => name.endsWith(".keepup-tmp")).length,
  ).toBeLessThanOrEqual(1)
}
