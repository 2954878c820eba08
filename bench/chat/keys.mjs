/** From a key to its character on the screen while an answer streams in over HTTP, 200 pieces a second. */
import { mkdirSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { table } from "../harness/report.mjs"
import { median, min, quantile } from "../harness/stats.mjs"
import { openTerminal } from "./terminal.mjs"

const pieceMs = 5
const letters = "abcdefghijklmnopqrstuvwxyz"

export async function keys(context) {
  const folder = context.scratch.folder("chat-keys")
  mkdirSync(join(folder, "workspace"))
  mkdirSync(join(folder, "home"))
  const server = await openEndlessModel()
  const terminal = openTerminal(folder, ["chat", "--model", "openai-compatible/endless"], {
    OPENAI_COMPATIBLE_API_KEY: "key-0123456789abcdef",
    OPENAI_COMPATIBLE_BASE_URL: server.url,
    NO_COLOR: "1",
  })
  const waits = []
  try {
    await terminal.sees("Ask something")
    terminal.type("talk\r")
    await terminal.sees("piece")
    const rounds = context.quick ? 60 : 300
    let typed = ""
    for (let round = 0; round < rounds; round++) {
      const letter = letters[round % letters.length]
      // what is typed stays short: it is looked for on the line of the prompt
      if (typed.length === letters.length) {
        terminal.type("\u0015")
        typed = ""
        await pause(40)
      }
      typed += letter
      terminal.forget()
      const start = performance.now()
      terminal.type(letter)
      waits.push((await terminal.sees(`> ${typed}`)) - start)
      await pause(20 + ((round * 7) % 40))
    }
  } finally {
    await terminal.end()
    server.close()
  }
  const result = { median: median(waits), p95: quantile(waits, 0.95), min: min(waits), count: waits.length }
  context.print(
    "Chat: a key press while an answer streams",
    table(["keys", "med ms", "p95 ms", "min ms"], [[result.count, result.median, result.p95, result.min]]),
  )
  return result
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Answers every request with an answer that does not end. */
function openEndlessModel() {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { "content-type": "text/event-stream" })
    let count = 0
    const timer = setInterval(() => {
      const content = `piece ${++count} of the answer${count % 12 === 0 ? ".\n\n" : ", "}`
      const chunk = { id: "x", object: "chat.completion.chunk", created: 0, model: "endless" }
      response.write(`data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta: { content } }] })}\n\n`)
    }, pieceMs)
    response.on("close", () => clearInterval(timer))
  })
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const close = () => {
        server.closeAllConnections()
        server.close()
      }
      resolve({ url: `http://127.0.0.1:${server.address().port}/v1`, close })
    })
  })
}
