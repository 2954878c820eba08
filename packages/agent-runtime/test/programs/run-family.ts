/** Runs an agent that spawns another one, and says `waits` when the other one waits for the model a second time: `run-family FOLDER COMMAND`. */
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
setInterval(() => undefined, 1_000)
await runSession(runtime, { model, prompt: "delegate" })
