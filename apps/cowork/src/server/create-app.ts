/** All routes behind one door: every request is ours by name and origin, everything under /api has the token. */
import { OpenAPIHono } from "@hono/zod-openapi"
import { type Clock, errorCodes, KeepupError, type Runtime, toKeepupError } from "@ku0/agent-runtime"
import type { Health } from "../api.js"
import { type GuardRequestOptions, requireOwnHost, requireOwnOrigin } from "./guard-request.js"
import { createLooks } from "./looks.js"
import type { PageFiles } from "./page-files.js"
import { addRoute, answerError, openPaths } from "./route.js"
import { checkpointRoutes } from "./routes/checkpoints.js"
import { fileRoutes } from "./routes/files.js"
import { houseRoutes } from "./routes/house.js"
import { sessionRoutes } from "./routes/sessions.js"
import { streamRoutes } from "./routes/streams.js"
import { travelRoutes } from "./routes/travel.js"
import type { Doorkeeper } from "./token.js"
import { createSessionWatcher } from "./watch-session.js"
import { createSessionsWatcher } from "./watch-sessions.js"

export interface CreateAppOptions {
  readonly runtime: Runtime
  readonly door: Doorkeeper
  readonly page: PageFiles
  /** Where it listens; asked for at each request, since the port may be chosen by the system. */
  readonly address: () => GuardRequestOptions
  readonly version: string
  readonly clock: Clock
  /** A failure the asker is told only in short. Must not throw. */
  readonly onError: (error: KeepupError) => void
}

export interface App {
  readonly fetch: OpenAPIHono["fetch"]
  /** Ends all streams. */
  close(): void
  /** Waits for what is under way, also when its asker is gone. */
  settle(): Promise<void>
}

export function createApp(options: CreateAppOptions): App {
  const { runtime, door, page, version, clock } = options
  const app = new OpenAPIHono()
  const startedAt = clock.now()
  const facts = (): Omit<Health, "ok"> => {
    const { host } = runtime.store.context
    return {
      version,
      pid: process.pid,
      host: host.split("/")[0] as string,
      startedAt,
      workspacePath: runtime.workspacePath,
    }
  }

  app.use("*", async ({ req }, next) => {
    requireOwnHost(req.header("host"), options.address())
    await next()
  })
  app.use("/api/*", async ({ req }, next) => {
    requireOwnOrigin((name) => req.header(name))
    if (!openPaths.includes(req.path)) door.check(req.header("authorization"))
    await next()
  })

  const looks = createLooks(runtime)
  const one = createSessionWatcher(runtime)
  const all = createSessionsWatcher(runtime)
  const routes = [
    ...houseRoutes(facts, door, () => options.address().port),
    ...sessionRoutes(runtime),
    ...checkpointRoutes(runtime, looks),
    ...fileRoutes(runtime, looks),
    ...travelRoutes(runtime, looks),
    ...streamRoutes(runtime, one, all),
  ]
  for (const each of routes) addRoute(app, each)

  app.openAPIRegistry.registerComponent("securitySchemes", "token", { type: "http", scheme: "bearer" })
  const describeAll = () =>
    app.getOpenAPI31Document({
      openapi: "3.1.0",
      info: { title: "keepup", version, description: "Sessions, checkpoints, and the way back." },
    })
  let document: ReturnType<typeof describeAll> | undefined
  app.get("/api/openapi.json", (context) => {
    document ??= describeAll()
    return context.json(document)
  })

  app.notFound((context) => {
    const { method, path } = context.req
    const isPage = (method === "GET" || method === "HEAD") && !path.startsWith("/api/")
    const found = isPage ? page.find(path, context.req.header("if-none-match")) : undefined
    return found ?? answerError(context, new KeepupError("NOT_FOUND", `There is nothing at ${method} ${path}.`))
  })
  app.onError((thrown, context) => {
    const error = toKeepupError(thrown)
    if (errorCodes[error.code].http >= 500) options.onError(error)
    return answerError(context, error)
  })

  const underWay = new Set<Promise<unknown>>()
  return {
    async fetch(request, ...rest) {
      const work = Promise.resolve(app.fetch(request, ...rest))
      underWay.add(work)
      return await work.finally(() => underWay.delete(work))
    },
    close() {
      one.close()
      all.close()
    },
    async settle() {
      await Promise.allSettled(underWay)
    },
  }
}
