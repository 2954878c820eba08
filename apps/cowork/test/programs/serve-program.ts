/** A server as a process of its own, to be killed: `node serve-program.mjs STATE WORKSPACE PORT`. Says where it listens. */
import { openRuntime } from "@ku0/agent-runtime"
import { openServer } from "../../src/server/index.js"

const [stateDirectory = "", workspacePath = "", port = "0"] = process.argv.slice(2)
const runtime = await openRuntime({ stateDirectory, workspacePath, environment: process.env })
const server = await openServer({ runtime, port: Number(port), version: "1.2.3" })
const { restores } = runtime.recovered
process.stdout.write(`${JSON.stringify({ port: server.port, settled: restores.map(({ outcome }) => outcome) })}\n`)
