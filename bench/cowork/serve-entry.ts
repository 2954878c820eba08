/** The server as a program: `node serve.mjs STATE WORKSPACE PORT`; says where it listens. */
import { openServer } from "../../apps/cowork/src/server/index.ts"
import { openRuntime } from "../../packages/agent-runtime/src/index.ts"

const [stateDirectory = "", workspacePath = "", port = "0"] = process.argv.slice(2)
const runtime = await openRuntime({ stateDirectory, workspacePath, environment: process.env })
const server = await openServer({ runtime, port: Number(port), version: "bench" })
process.stdout.write(`${JSON.stringify({ port: server.port })}\n`)

/** Asked through the channel to whoever started it: what is used after a full collection. */
process.on("message", () => {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  process.send?.(heapUsed + external)
})
