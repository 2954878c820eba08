/** A route: what it takes, what it answers, what it does. From the same lines come the parsing and the OpenAPI document. */
import type { OpenAPIHono } from "@hono/zod-openapi"
import { errorCodes, KeepupError, toKeepupError } from "@ku0/agent-runtime"
import type { Context } from "hono"
import type { z } from "zod"
import { failureSchema } from "../api.js"

type Nothing = z.ZodObject<Record<never, never>>

export interface RouteInput<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  readonly params: z.output<Params>
  readonly query: z.output<Query>
  readonly body: z.output<Body>
  header(name: string): string | undefined
  /** Aborts when the asker is gone. Made when it is asked for: most routes end sooner. */
  signal(): AbortSignal
}

export interface Route<
  Params extends z.ZodType = Nothing,
  Query extends z.ZodType = Nothing,
  Body extends z.ZodType = Nothing,
  Answer extends z.ZodType = z.ZodObject<{ ok: z.ZodLiteral<true> }>,
> {
  readonly method: "get" | "post" | "patch" | "delete"
  /** `/api/sessions/{sid}`; a parameter named `path` takes the rest with its slashes. */
  readonly path: string
  readonly summary: string
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** Without one it answers bytes or a stream of the media type. */
  readonly answer?: Answer
  readonly media?: string
  handle(input: RouteInput<Params, Query, Body>): Promise<Omit<z.input<Answer>, "ok"> | Response>
}

export type AnyRoute = Route<z.ZodType, z.ZodType, z.ZodType, z.ZodType>

/** Keeps the types of one route together and forgets them for the table. */
export function route<
  Params extends z.ZodType = Nothing,
  Query extends z.ZodType = Nothing,
  Body extends z.ZodType = Nothing,
  Answer extends z.ZodType = z.ZodObject<{ ok: z.ZodLiteral<true> }>,
>(definition: Route<Params, Query, Body, Answer>): AnyRoute {
  return definition as unknown as AnyRoute
}

/** The way in needs no token. */
export const openPaths: readonly string[] = ["/api/login", "/api/proof"]

/** A body may be this long. */
const mostBytes = 4 << 20

export function addRoute(app: OpenAPIHono, one: AnyRoute): void {
  document(app, one)
  const path = one.path.replace(/\{(\w+)\}/g, (_, name) => (name === "path" ? ":path{.+}" : `:${name}`))
  app.on(one.method.toUpperCase(), path, async (context) => {
    const answer = await one.handle({
      params: parse(one.params, context.req.param(), "address"),
      query: parse(one.query, context.req.query(), "query"),
      body: one.body === undefined ? {} : parse(one.body, await readBody(context), "body"),
      header: (name) => context.req.header(name),
      signal: () => context.req.raw.signal,
    })
    if (answer instanceof Response) return answer
    return context.json({ ok: true, ...answer }, 200, { "Cache-Control": "no-store" })
  })
}

/** An error as the answer of the contract. */
export function answerError(context: Context, thrown: unknown): Response {
  const error = toKeepupError(thrown)
  const { foreign, retryAfterSeconds, ...details } = (error.details ?? {}) as Record<string, unknown>
  const isForbidden = foreign === true || retryAfterSeconds !== undefined
  const status = error.code === "UNAUTHORIZED" && isForbidden ? 403 : errorCodes[error.code].http
  const { code, message, hint } = error
  if (typeof details["host"] === "string") details["host"] = details["host"].split("/")[0] // the rest names processes
  const shown = Object.keys(details).length > 0 ? { details } : {}
  return context.json({ ok: false, error: { code, message, ...(hint && { hint }), ...shown } }, status as 400, {
    "Cache-Control": "no-store",
    ...(retryAfterSeconds !== undefined && { "Retry-After": String(retryAfterSeconds) }),
    ...(status === 401 && { "WWW-Authenticate": "Bearer" }),
  })
}

function parse(schema: z.ZodType | undefined, value: unknown, where: string): unknown {
  if (schema === undefined) return {}
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const place = issue?.path.join(".")
  throw new KeepupError("INVALID_INPUT", `The ${where} is wrong${place ? ` at ${place}` : ""}: ${issue?.message}.`, {
    hint: "GET /api/openapi.json says what is expected.",
  })
}

async function readBody({ req }: Context): Promise<unknown> {
  if (!/^application\/json\s*(;|$)/i.test(req.header("content-type") ?? "")) {
    throw new KeepupError("INVALID_INPUT", "The body must be JSON.", { hint: "Send `Content-Type: application/json`." })
  }
  const chunks: Uint8Array[] = []
  let size = Number(req.header("content-length") ?? 0)
  if (size <= mostBytes) {
    size = 0
    for await (const chunk of req.raw.body ?? []) {
      size += chunk.length
      if (size > mostBytes) break
      chunks.push(chunk)
    }
  }
  if (size > mostBytes) throw new KeepupError("INVALID_INPUT", `The body is longer than ${mostBytes} bytes.`)
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)))
  } catch (cause) {
    throw new KeepupError("INVALID_INPUT", "The body is not JSON.", { cause })
  }
}

function document(app: OpenAPIHono, one: AnyRoute): void {
  const failure = (description: string) => ({ description, content: { "application/json": { schema: failureSchema } } })
  const content =
    one.answer === undefined
      ? { [one.media ?? "application/octet-stream"]: { schema: { type: "string" as const } } }
      : { "application/json": { schema: one.answer } }
  app.openAPIRegistry.registerPath({
    method: one.method,
    path: one.path,
    summary: one.summary,
    ...(!openPaths.includes(one.path) && { security: [{ token: [] }] }),
    request: {
      ...(one.params && { params: one.params as z.ZodObject }),
      ...(one.query && { query: one.query as z.ZodObject }),
      ...(one.body && { body: { required: true, content: { "application/json": { schema: one.body } } } }),
    },
    responses: {
      200: { description: "done", content },
      400: failure("wrong address, query or body"),
      401: failure("no or wrong token"),
      403: failure("foreign origin or host, or too many wrong tokens"),
      404: failure("no such thing"),
      409: failure("a task is running there, or something changed meanwhile"),
      500: failure("a bug, or a damaged store"),
      503: failure("not available on this machine now"),
    },
  })
}

/** Leaves out what is not given. */
export function given<Values extends object>(
  values: Values,
): { [Key in keyof Values]?: Exclude<Values[Key], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}
