/**
 * The memory of one chat over 10,000 streamed messages. Every 500 it goes back to its first checkpoint: what the model is sent,
 * which the agent has to hold, stays as long as it was, and what grows is the chat's.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { table } from "../harness/report.mjs"
import { openTerminal } from "./terminal.mjs"

const turn = 100
const cycle = 500
const text = `${"A streamed answer of a few words. ".repeat(8)}\n`

export async function memory(context) {
  const folder = context.scratch.folder("chat-memory")
  mkdirSync(join(folder, "workspace", ".keepup"), { recursive: true })
  mkdirSync(join(folder, "home"))
  const answers = context.quick ? 3_000 : 10_000
  const settings = { "checkpoint.on": ["phase.ended"], "checkpoint.interval": 86_400_000 }
  writeFileSync(join(folder, "workspace/.keepup/config.json"), JSON.stringify(settings))
  writeFileSync(join(folder, "workspace/a.txt"), "a\n")
  const script = join(folder, "answers.jsonl")
  const call = { name: "read_file", arguments: { path: "a.txt" } }
  const lines = Array.from({ length: cycle }, (_, index) =>
    JSON.stringify(
      (index + 1) % turn === 0 ? { content: `${text}end ${index + 1}` } : { content: text, toolCalls: [call] },
    ),
  )
  writeFileSync(script, `${lines.join("\n")}\n`)
  const terminal = openTerminal(folder, ["chat", "--script", script, "--approval", "auto", "--max-steps", "1000"])
  const samples = []
  try {
    await terminal.sees("Ask something")
    for (let done = turn; done <= answers; done += turn) {
      terminal.type("more\r")
      await terminal.sees(`end ${((done - 1) % cycle) + 1}`)
      // the chat is ready for more when it has kept what was said
      await terminal.sees("Ask something")
      samples.push({ answers: done, mb: anonymousMb(terminal.pid) })
      if (done % cycle > 0) continue
      terminal.type("/rewind 1\r")
      await terminal.sees("Original session preserved")
    }
  } finally {
    await terminal.end()
  }
  // the lowest of a third: what stays when the collector has been there
  const third = Math.max(1, Math.floor(samples.length / 3))
  const least = (part) => Math.min(...part.map(({ mb }) => mb))
  const result = {
    answers,
    early: least(samples.slice(1, third + 1)),
    late: least(samples.slice(-third)),
    samples,
  }
  context.print(
    `Chat: memory over ${answers} streamed messages`,
    table(
      ["stays in the first third, MB", "in the last, MB", "x"],
      [[result.early, result.late, result.late / result.early]],
    ),
  )
  return result
}

function anonymousMb(pid) {
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) / 1024
}
