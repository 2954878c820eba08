/** The cowork server: everything keepup knows, over HTTP on this machine, and the page that shows it. */
import { randomBytes } from "node:crypto"
import type { Server, ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { getRequestListener } from "@hono/node-server"
import { type Clock, KeepupError, placesIn, type Runtime, recoverAll } from "@ku0/agent-runtime"
import { createApp } from "./create-app.js"
import { commonHeaders, isLoopback } from "./guard-request.js"
import { findPageFolder, readPageFiles } from "./page-files.js"
import { createDoorkeeper, isSame, proveToken, readToken } from "./token.js"
import { createPulse } from "./watch-session.js"

export interface OpenServerOptions {
  readonly runtime: Runtime
  /** 7177 unless told; 0 takes any that is free. */
  readonly port?: number
  /** 127.0.0.1 unless told. Another than a loopback address needs `isOpenToNetwork`. */
  readonly host?: string
  /** Says that others on the network may reach it; they still need the token. */
  readonly isOpenToNetwork?: boolean
  readonly version: string
  readonly clock?: Clock
  /** The folder of the built page; found by itself unless told. */
  readonly pageFolder?: string
  /** A failure that is a bug, a damaged store or a missing part. Must not throw. */
  readonly onError?: (error: KeepupError) => void
}

export interface CoworkServer {
  readonly port: number
  readonly host: string
  /** `http://127.0.0.1:7177/` */
  readonly url: string
  /** The address that lets a page in, once, for ten minutes. */
  createLoginUrl(): string
  /** Ends streams, lets what is under way end, and stops listening. The runtime stays open. */
  close(): Promise<void>
}

const recoverMs = 15_000
/** An asker that takes nothing for so long is gone. */
const stallMs = 120_000
const mostConnections = 2_000

export async function openServer(options: OpenServerOptions): Promise<CoworkServer> {
  const { runtime, host = "127.0.0.1", clock = { now: () => Date.now() } } = options
  if (!isLoopback(host) && options.isOpenToNetwork !== true) {
    throw new KeepupError("INVALID_INPUT", `${host} is not a loopback address: others on the network could reach it.`, {
      hint: "Say that you want that, or leave the host out.",
    })
  }
  const door = createDoorkeeper(readToken(placesIn(runtime.stateDirectory, place(runtime)).token), clock)
  const onError = options.onError ?? (() => undefined)
  let port = options.port ?? 7177
  const page = readPageFiles(options.pageFolder ?? findPageFolder())
  const address = () => ({ host, port })
  const app = createApp({ runtime, door, page, address, version: options.version, clock, onError })
  const { createServer } = await import("node:http")
  const listener = getRequestListener(app.fetch)
  const server = createServer(
    { keepAliveTimeout: 5_000, headersTimeout: 10_000, requestTimeout: 60_000 },
    (...both) => {
      prepare(both[1])
      void listener(...both)
    },
  )
  server.maxConnections = mostConnections
  const sockets = trackSockets(server)
  port = await listen(server, port, host)
  const recovery = createPulse(async () => {
    await recoverAll(runtime).catch((error: unknown) => onError(error as KeepupError))
  }, recoverMs)
  recovery.now()
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}/`
  let closed: Promise<void> | undefined

  async function stop(): Promise<void> {
    recovery.stop()
    const ended = new Promise<void>((resolve) => server.close(() => resolve()))
    app.close()
    // a connection is idle when its answer has ended, which may be a moment from now
    const idle = setInterval(() => server.closeIdleConnections(), 20)
    const force = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, 10_000)
    await ended
    clearInterval(idle)
    clearTimeout(force)
    await app.settle()
  }

  return {
    port,
    host,
    url,
    createLoginUrl: () => `${url}#code=${door.createCode().code}`,
    close() {
      closed ??= stop()
      return closed
    },
  }
}

/**
 * The fresh address of a server of ours that listens on this port already; `undefined` if it is not ours. Whoever took
 * the port must show that it has the token before it is sent.
 */
export async function findRunningServer(runtime: Runtime, port: number): Promise<string | undefined> {
  const url = `http://127.0.0.1:${port}/`
  const token = readToken(placesIn(runtime.stateDirectory, place(runtime)).token)
  const ask = async (path: string, headers: Record<string, string>, body: object) => {
    const request = { method: "POST", headers: { "Content-Type": "application/json", ...headers } }
    const signal = AbortSignal.timeout(5_000)
    const answer = await fetch(url + path, { ...request, body: JSON.stringify(body), signal, redirect: "error" })
    return (await answer.json()) as Record<string, unknown>
  }
  try {
    const challenge = randomBytes(24).toString("base64url")
    const { proof } = await ask("api/proof", {}, { challenge })
    if (typeof proof !== "string" || !isSame(proof, proveToken(token, challenge, port))) return undefined
    const { code } = await ask("api/codes", { Authorization: `Bearer ${token}` }, {})
    return typeof code === "string" ? `${url}#code=${code}` : undefined
  } catch {
    return undefined // whoever listens there is no server of ours
  }
}

function place({ config, workspacePath }: Runtime) {
  return { storage: config.storage, workspacePath }
}

function prepare(response: ServerResponse): void {
  for (const [name, value] of Object.entries(commonHeaders)) response.setHeader(name, value)
  response.setTimeout(stallMs, () => response.destroy())
}

function trackSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>()
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  return sockets
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const isTaken = cause.code === "EADDRINUSE"
      const hint = isTaken ? "Choose another one with --port." : "Look at --host and --port."
      reject(
        new KeepupError(
          isTaken ? "CONFLICT" : "UNAVAILABLE",
          `Port ${port} on ${host} can't be used: ${cause.message}.`,
          {
            ...{ hint, cause, details: { code: cause.code } },
          },
        ),
      )
    })
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
}
