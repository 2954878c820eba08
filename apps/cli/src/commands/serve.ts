/** `serve`: the cowork server and its page, until it is stopped. */
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { isKeepupError, KeepupError } from "@ku0/agent-runtime"
import type { CoworkServer } from "@ku0/cowork"
import type { Command } from "../command.js"
import type { Context } from "../context.js"
import { version } from "../version.js"

const usualPort = 7177

export const serveCommand: Command = {
  summary: "show it all in a browser: the server and its page",
  description: [
    "Listens on this machine only. The address it prints lets one browser in, once, within ten minutes; run it again for " +
      "another one. Programs send the token from the file `token` of the state directory. Ctrl-C stops it; nothing is lost.",
    "With --allow-network and a --host of this machine others on the network can reach it. They need the token, and what " +
      "they send and see is not encrypted.",
  ],
  options: [
    { flags: "--port <N>", summary: "7177 unless told; 0 takes any that is free", isCount: true },
    { flags: "--host <ADDRESS>", summary: "127.0.0.1 unless told" },
    { flags: "--open", summary: "open the page in a browser" },
    { flags: "--allow-network", summary: "let a host be used that others can reach" },
  ],
  examples: [
    { command: "keepup serve --open", does: "Look at everything in a browser" },
    { command: "keepup serve --port 8080", does: "On another port" },
  ],
  exits: ["CONFLICT", "UNAVAILABLE"],
  async run(context, input) {
    const port = input.count("port") ?? usualPort
    if (port > 65_535) throw new KeepupError("INVALID_INPUT", `There is no port ${port}.`)
    const host = input.option("host") ?? "127.0.0.1"
    const isOpenToNetwork = input.flag("allow-network")
    const runtime = await context.openRuntime()
    const { findRunningServer, openServer } = await import("@ku0/cowork")
    await context.uninterrupted(async () => {
      const request = { runtime, port, host, isOpenToNetwork, version, onError: tellError(context) }
      const server = await openServer(request).catch(async (error: unknown) => {
        const running =
          isKeepupError(error) && error.code === "CONFLICT" ? await findRunningServer(runtime, port) : undefined
        if (running === undefined) throw error
        await tell(context, { url: running, isRunning: true, isOpen: input.flag("open") })
      })
      if (server === undefined) return
      if (isOpenToNetwork)
        context.warn(`Others on the network can reach ${server.url}. Nothing they send is encrypted.`)
      const clear = await tell(context, { url: server.createLoginUrl(), isRunning: false, isOpen: input.flag("open") })
      await serveUntilStopped(server, context.signal)
      clear()
    })
    context.signal.throwIfAborted()
  },
}

async function serveUntilStopped(server: CoworkServer, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener("abort", () => resolve())
  })
  await server.close()
}

interface Told {
  readonly url: string
  readonly isRunning: boolean
  readonly isOpen: boolean
}

/** Says the address; returns what takes away the file a browser was opened with. */
async function tell(context: Context, { url, isRunning, isOpen }: Told): Promise<() => void> {
  const place = url.replace(/#.*$/, "")
  context.answer({ server: { url: place, loginUrl: url, isRunning } }, () =>
    [
      isRunning ? `A server is at ${place} already.` : `keepup is at ${place}`,
      `Open this address, once, within ten minutes: ${url}`,
      ...(isRunning ? [] : ["For another browser run `keepup serve` again. Stop with Ctrl-C."]),
    ].join("\n"),
  )
  return isOpen ? openBrowser(context, url, isRunning) : () => undefined
}

/** How long the code of an address is good. */
const codeLifeMs = 600_000

/**
 * The address lets one in, and the arguments of a program can be seen by other users of the machine: a browser is opened
 * with a file that only its owner can read, which leads on. If the server is another process (`isLeft`), this one ends
 * before the browser has read the file: it stays, and the next start takes it away.
 */
function openBrowser(context: Context, url: string, isLeft: boolean): () => void {
  removeOldFiles(context.stateDirectory)
  const file = join(context.stateDirectory, `open-${randomBytes(8).toString("hex")}.html`)
  writeFileSync(
    file,
    `<!doctype html><meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">keepup</a>\n`,
    {
      mode: 0o600,
      flag: "wx",
    },
  )
  const program = process.platform === "darwin" ? "open" : "xdg-open"
  const child = spawn(program, [pathToFileURL(file).href], { stdio: "ignore", detached: true })
  child.on("error", () => context.warn(`No browser could be opened with ${program}. Open the address yourself.`))
  child.unref()
  if (isLeft) return () => undefined
  const clear = () => rmSync(file, { force: true })
  setTimeout(clear, 60_000).unref()
  process.once("exit", clear)
  return clear
}

function removeOldFiles(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!/^open-[0-9a-f]{16}\.html$/.test(name)) continue
    const file = join(folder, name)
    const made = statSync(file, { throwIfNoEntry: false })?.mtimeMs
    if (made !== undefined && Date.now() - made > codeLifeMs) rmSync(file, { force: true })
  }
}

function tellError(context: Context): (error: KeepupError) => void {
  return ({ code, message }) => context.warn(`${code}: ${message}`)
}
