/** A real server on a real store and workspace, and a way to ask it. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { type IncomingHttpHeaders, request } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { type Checkpoint, openRuntime, type Runtime, type Session } from "@ku0/agent-runtime"
import { type CoworkServer, openServer } from "../src/server/index.js"

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
  readonly json: any
}

export interface AskOptions {
  readonly method?: string
  readonly body?: unknown
  /** As it is, instead of JSON. */
  readonly raw?: string | Buffer
  readonly headers?: Readonly<Record<string, string | undefined>>
}

export interface ServerFixture {
  readonly root: string
  readonly stateDirectory: string
  readonly workspacePath: string
  readonly runtime: Runtime
  readonly server: CoworkServer
  readonly token: string
  /** Asks with the token unless the headers say otherwise. The address goes out as it is written. */
  ask(path: string, options?: AskOptions): Promise<Answer>
  write(path: string, content: string): void
  createSession(name?: string): Promise<Session>
  take(session: Session, name?: string): Promise<Checkpoint>
  say(session: Session, ...texts: string[]): Promise<void>
  close(): Promise<void>
}

export async function openFixture(): Promise<ServerFixture> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-cowork-")))
  const [stateDirectory, workspacePath] = [join(root, "state"), join(root, "workspace")]
  for (const folder of [stateDirectory, workspacePath]) mkdirSync(folder, { mode: 0o700 })
  const runtime = await openRuntime({ stateDirectory, workspacePath, environment: process.env })
  const server = await openServer({ runtime, port: 0, version: "1.2.3" })
  const login = new URL(server.createLoginUrl())
  const code = login.hash.replace("#code=", "")
  const { json } = await ask(server.port, "/api/login", { method: "POST", body: { code } })
  const token = json.token as string
  return {
    ...{ root, stateDirectory, workspacePath, runtime, server, token },
    ask: (path, options = {}) =>
      ask(server.port, path, { ...options, headers: { authorization: `Bearer ${token}`, ...options.headers } }),
    write(path, content) {
      mkdirSync(dirname(join(workspacePath, path)), { recursive: true })
      writeFileSync(join(workspacePath, path), content)
    },
    createSession: (name = "work") => runtime.store.sessions.create({ workspacePath, name }),
    take: async (session, name) =>
      (await runtime.manager.take({
        ...{ sessionId: session.id, trigger: "manual" as const },
        ...(name !== undefined && { name }),
      })) as Checkpoint,
    async say(session, ...texts) {
      const drafts = texts.map((content) => ({ type: "message:added", data: { message: { role: "user", content } } }))
      await runtime.store.log.append(session.id, drafts)
    },
    async close() {
      await server.close()
      await runtime.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** One request on a connection of its own. A header of `undefined` is left out. */
export function ask(port: number, path: string, options: AskOptions = {}): Promise<Answer> {
  const { method = "GET", body, raw } = options
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const type = body === undefined ? {} : { "content-type": "application/json" }
  const headers = Object.fromEntries(
    Object.entries({ ...type, ...options.headers }).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on("data", (chunk) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8")
        const isJson = response.headers["content-type"]?.includes("json") === true
        resolve({
          ...{ status: response.statusCode ?? 0, headers: response.headers, text },
          json: isJson ? JSON.parse(text) : undefined,
        })
      })
    })
    sent.on("error", reject)
    sent.end(payload)
  })
}
