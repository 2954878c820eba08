/**
 * The used heap of one chat over 10,000 streamed messages, after a full collection at ten points. Every 500 it goes back to its
 * first checkpoint: what the model is sent, which the agent has to hold, stays as long as it was, and what grows is the chat's.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { table } from "../harness/report.mjs"
import { openTerminal } from "./terminal.mjs"

const turn = 100
const cycle = 500
const points = 10
const text = `${"A streamed answer of a few words. ".repeat(8)}\n`

export async function memory(context) {
  const folder = context.scratch.folder("chat-memory")
  mkdirSync(join(folder, "workspace", ".keepup"), { recursive: true })
  mkdirSync(join(folder, "home"))
  const answers = context.quick ? 5_000 : 10_000
  const settings = { "checkpoint.on": ["phase.ended"], "checkpoint.interval": 86_400_000 }
  writeFileSync(join(folder, "workspace/.keepup/config.json"), JSON.stringify(settings))
  writeFileSync(join(folder, "workspace/a.txt"), "a\n")
  const script = join(folder, "answers.jsonl")
  const call = { name: "read_file", arguments: { path: "a.txt" } }
  const lines = Array.from({ length: cycle }, (_, index) =>
    JSON.stringify(
      (index + 1) % turn === 0
        ? { content: `${text}end ${index + 1}` }
        : { content: `${index}. ${text}`, toolCalls: [call] },
    ),
  )
  writeFileSync(script, `${lines.join("\n")}\n`)
  const heap = openHeap(join(folder, "heap.jsonl"))
  const words = ["chat", "--script", script, "--approval", "auto", "--max-steps", "1000"]
  const terminal = openTerminal(folder, words, heap.environment, heap.nodeWords)
  const samples = []
  try {
    await terminal.sees("Ask something")
    for (let done = turn; done <= answers; done += turn) {
      terminal.type("more\r")
      await terminal.sees(`end ${((done - 1) % cycle) + 1}`)
      // the chat is ready for more when it has kept what was said
      await terminal.sees("Ask something")
      if (done % cycle > 0) continue
      terminal.type("/rewind 1\r")
      await terminal.sees("Original session preserved")
      await terminal.sees("Ask something")
      if (done % (answers / points) === 0) samples.push({ answers: done, mb: await heap.usedMb(terminal.pid) })
    }
  } finally {
    await terminal.end()
  }
  // the first third warms up: code is compiled, caches fill to their limits
  const third = Math.floor(points / 3)
  const middle = mean(samples.slice(third, 2 * third))
  const late = mean(samples.slice(-third))
  context.print(
    `Chat: used heap over ${answers} streamed messages`,
    [
      table(
        ["messages", "MB"],
        samples.map(({ answers: done, mb }) => [done, mb]),
      ),
      table(["second third, MB", "last third, MB", "x"], [[middle, late, late / middle]]),
    ].join("\n\n"),
  )
  return { answers, middle, late, samples }
}

const mean = (part) => part.reduce((sum, { mb }) => sum + mb, 0) / part.length

/** Asks the chat for the heap it uses after all garbage was collected. */
function openHeap(file) {
  let asked = 0
  const read = () => (existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [])
  return {
    environment: { KEEPUP_BENCH_HEAP: file },
    nodeWords: ["--expose-gc", "--import", new URL("report-heap.mjs", import.meta.url).href],
    async usedMb(pid) {
      process.kill(pid, "SIGUSR2")
      asked++
      while (read().length < asked) await pause(20)
      return JSON.parse(read()[asked - 1]).heapUsed / 2 ** 20
    },
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
