/**
 * A model service on loopback that says what a script tells it, in the streaming protocols of Anthropic, OpenAI and
 * Google, faults included. It keeps the requests, with what the real service would have refused about them.
 */
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as wait } from "node:timers/promises"
import { anthropicDialect } from "./dialects/anthropic.js"
import { googleDialect } from "./dialects/google.js"
import { openAiChatDialect } from "./dialects/openai-chat.js"
import { openAiResponsesDialect } from "./dialects/openai-responses.js"
import { completeTurn, type Dialect, type ScriptedTurn } from "./script.js"

export type { Fault, ScriptedCall, ScriptedTurn } from "./script.js"

export const dialects: readonly Dialect[] = [anthropicDialect, openAiResponsesDialect, openAiChatDialect, googleDialect]

export interface ReceivedRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Readonly<Record<string, unknown>>
  /** What is wrong with it. */
  readonly problems: readonly string[]
  /** How the exchange ended: the server sent everything, or the client or a fault broke it off. */
  readonly ended: Promise<"sent" | "broken">
}

export interface ModelServer {
  /** Without a path: `http://127.0.0.1:port`. */
  readonly url: string
  readonly requests: readonly ReceivedRequest[]
  /** Appends turns to the script. */
  say(...turns: readonly ScriptedTurn[]): void
  close(): Promise<void>
}

export async function openModelServer(...turns: readonly ScriptedTurn[]): Promise<ModelServer> {
  const script = [...turns]
  const requests: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.destroy(error))
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const ended = once(response, "close").then(() => (response.writableFinished ? "sent" : "broken"))
    const path = request.url ?? ""
    const body = JSON.parse(await readAll(request))
    const dialect = dialects.find((one) => one.matches(path))
    requests.push({ path, headers: request.headers, body, problems: dialect?.findProblems(body) ?? [], ended })
    const turn = script.shift()
    if (dialect === undefined) sendText(response, 404, `no such place: ${path}`)
    else if (turn === undefined) sendText(response, 400, JSON.stringify(dialect.refusal(400, "the script is over")))
    else await perform(response, dialect, turn, requests.length)
  }

  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    say: (...more) => script.push(...more),
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, "close")
    },
  }
}

async function perform(response: ServerResponse, dialect: Dialect, turn: ScriptedTurn, number: number): Promise<void> {
  const { fault, drip } = turn
  if (fault?.kind === "silence" && fault.after === undefined) return
  if (fault?.kind === "body") return sendText(response, 200, fault.text, { "content-type": fault.type })
  if (fault?.kind === "status") {
    const said = JSON.stringify(dialect.refusal(fault.status, fault.message ?? `scripted ${fault.status}`))
    return sendText(response, fault.status, fault.body ?? said, {
      "content-type": "application/json",
      ...fault.headers,
    })
  }
  const frames = dialect.frames(completeTurn(turn, number))
  if (fault?.kind === "insert") frames.splice(fault.after, 0, fault.text)
  if (fault?.kind === "error") frames.splice(fault.after, Infinity, dialect.errorFrame(fault.type, fault.message))
  const isShort = fault?.kind === "cut" || fault?.kind === "end" || fault?.kind === "silence"
  const stream = Buffer.from((isShort ? frames.slice(0, fault.after) : frames).join(""))
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  response.flushHeaders()
  const size = drip?.bytes ?? Math.max(1, stream.length)
  for (let at = 0; at < stream.length && !response.destroyed; at += size) {
    await new Promise<void>((resolve) => response.write(stream.subarray(at, at + size), () => resolve()))
    if (drip !== undefined) await wait(drip.everyMs)
  }
  if (fault?.kind === "silence") return
  if (fault?.kind === "cut") response.destroy()
  else response.end()
}

function sendText(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, headers)
  response.end(text)
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString("utf8")
}
