/**
 * Runs an agent that spawns another one: `run-family FOLDER COMMAND`. The other one runs the command, then says `waits` and
 * waits for the model without end. Says how the run ended, if it does.
 */
import { writeSync } from "node:fs"
import { join } from "node:path"
import { type Model, openRuntime, runSession } from "../../src/index.js"

const [folder = "", command = ""] = process.argv.slice(2)

const model: Model = {
  name: "family",
  async answer({ messages }) {
    const isParent = messages[0]?.content === "delegate"
    if (isParent) {
      return { content: "", toolCalls: [{ id: "1", name: "spawn_agent", arguments: { task: "help out" } }] }
    }
    if (messages.length === 1) {
      return { content: "", toolCalls: [{ id: "1", name: "run_command", arguments: { command } }] }
    }
    writeSync(1, "waits\n")
    return await new Promise(() => undefined)
  },
}

const runtime = await openRuntime({
  stateDirectory: join(folder, "state"),
  workspacePath: join(folder, "workspace"),
  environment: { PATH: process.env["PATH"] },
})
const alive = setInterval(() => undefined, 1_000)
const { run } = await runSession(runtime, { model, prompt: "delegate" })
clearInterval(alive)
await runtime.close()
writeSync(1, `${run.outcome}\n`)
