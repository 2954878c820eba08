/** Calls every route of the served OpenAPI document, with good and with bad input, and holds the answers against it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { openFixture, type ServerFixture } from "./server-fixture.js"

interface Operation {
  readonly summary: string
  readonly parameters?: { readonly name: string; readonly in: string; readonly schema: { readonly type?: string } }[]
  readonly requestBody?: unknown
  readonly responses: Record<string, { content: Record<string, { schema: object }> }>
}

let fixture: ServerFixture
// biome-ignore lint/suspicious/noExplicitAny: a document is what it is
let document: any
const names: Record<string, string> = {}

beforeAll(async () => {
  fixture = await openFixture()
  const { runtime } = fixture
  fixture.write("src/a.txt", "one\n")
  const session = await fixture.createSession("every route")
  await fixture.say(session, "hello", "there")
  await runtime.store.state.put(session.id, { todo: ["x"], "a/b": 1 })
  const first = await fixture.take(session, "first")
  fixture.write("src/a.txt", "two\n")
  await runtime.store.state.put(session.id, { todo: ["x", "y"] })
  const second = await fixture.take(session, "second")
  await runtime.store.sessions.addLog(session.id, "warn", "look out")
  await runtime.store.artifacts.put(
    {
      ...{ id: "plan/1" as never, sessionId: session.id, type: "plan", schemaVersion: "1", title: "a plan" },
      ...{ taskNodeId: null, mediaType: "application/json", createdAt: 1, quarantine: null, renderHints: null },
      idempotencyKey: null,
    },
    Buffer.from("{}"),
  )
  Object.assign(names, { sid: session.id, cid: first.id, other: second.id, aid: "plan/1", key: "todo" })
  document = (await fixture.ask("/api/openapi.json")).json
})
afterAll(() => fixture.close())

/** What a good question of each route looks like beyond its address. In this order: what takes away comes last. */
const good: [route: string, question: { query?: string; body?: unknown; before?: () => Promise<void> }][] = [
  ["get /api/health", {}],
  ["post /api/codes", {}],
  ["post /api/proof", { body: { challenge: "0123456789abcdef" } }],
  ["post /api/login", { body: {}, before: keepCode }],
  ["get /api/sessions", { query: "?status=active&limit=10&q=every" }],
  ["get /api/workspaces", {}],
  ["get /api/sessions/{sid}", {}],
  ["get /api/sessions/{sid}/workspace", {}],
  ["get /api/sessions/{sid}/messages", { query: "?around=1&limit=2" }],
  ["get /api/sessions/{sid}/entries", { query: "?after=1&limit=3" }],
  ["get /api/sessions/{sid}/logs", {}],
  ["get /api/sessions/{sid}/artifacts", {}],
  ["get /api/sessions/{sid}/graph", {}],
  ["get /api/sessions/{sid}/checkpoints", {}],
  ["post /api/sessions/{sid}/checkpoints", { body: { name: "third", note: "n", state: { a: 1 } } }],
  ["get /api/sessions/{sid}/checkpoints/{cid}", {}],
  ["patch /api/sessions/{sid}/checkpoints/{cid}", { body: { pinned: false } }],
  ["get /api/sessions/{sid}/checkpoints/{cid}/state", {}],
  ["get /api/sessions/{sid}/checkpoints/{cid}/state/{key}", {}],
  ["get /api/sessions/{sid}/checkpoints/{cid}/diff", { query: "?to=second" }],
  ["get /api/sessions/{sid}/checkpoints/{cid}/diff/{path}", { query: "?to=second" }],
  ["get /api/sessions/{sid}/checkpoints/{cid}/files", { query: "?folder=src" }],
  ["get /api/sessions/{sid}/checkpoints/{cid}/files/{path}", {}],
  ["get /api/artifacts/{aid}", {}],
  ["get /api/artifacts/{aid}/content", {}],
  ["post /api/sessions/{sid}/checkpoints/{cid}/restore", { body: { mode: "both", dryRun: true } }],
  ["post /api/restores/{id}/undo", { before: restoreOnce }],
  ["post /api/sessions/{sid}/checkpoints/{cid}/replay", { body: { mode: "verify", to: "second" } }],
  ["get /api/compare", { query: "?from={cid}&to={sid}" }],
  ["patch /api/sessions/{sid}", { body: { name: "another name" } }],
  ["post /api/sessions/{sid}/pause", { before: () => hold() }],
  ["delete /api/sessions/{sid}/checkpoints/{cid}", {}],
  ["delete /api/sessions/{sid}", {}],
]
const streams = ["get /api/events", "get /api/sessions/{sid}/events"]

async function keepCode(): Promise<void> {
  names["code"] = (await fixture.ask("/api/codes", { method: "POST" })).json.code
}

async function restoreOnce(): Promise<void> {
  const path = `/api/sessions/${names["sid"]}/checkpoints/${names["cid"]}/restore`
  const { json } = await fixture.ask(path, { method: "POST", body: { mode: "files" } })
  names["id"] = json.restore.id
}

let release = async () => {}
async function hold(): Promise<void> {
  const lease = await fixture.runtime.store.leases.take(`session:${names["sid"]}`, { purpose: "run" })
  release = () => lease.release()
}

function address(template: string, values: Record<string, string> = names): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === "path" ? "src/a.txt" : encodeURIComponent(values[name] ?? "missing"),
  )
}

function operation(route: string): Operation {
  const [method, path] = route.split(" ") as [string, string]
  return document.paths[path]?.[method]
}

describe("the routes of the document", () => {
  it("are all asked here, and no others", () => {
    const documented = Object.entries(document.paths as Record<string, object>).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method} ${path}`),
    )
    expect(documented.sort()).toEqual([...good.map(([route]) => route), ...streams].sort())
  })

  it("answer a good question as the document says", async () => {
    for (const [route, { query = "", body, before }] of good) {
      await before?.()
      const [method, path] = route.split(" ") as [string, string]
      const sent = route === "post /api/login" ? { code: names["code"] } : body
      const answer = await fixture.ask(address(path) + address(query), {
        method: method.toUpperCase(),
        ...(sent !== undefined && { body: sent }),
      })
      expect(answer.status, `${route}: ${answer.text}`).toBe(200)
      const { content } = operation(route).responses["200"] as { content: Record<string, { schema: object }> }
      const schema = content["application/json"]?.schema
      if (schema === undefined) expect(answer.text, route).not.toBe("")
      else expectFits(schema, answer.json, route)
      await release()
    }
  })

  it("answer a wrong question with the error the contract has for it", async () => {
    const session = await fixture.createSession()
    const fresh = { ...names, sid: session.id, cid: (await fixture.take(session)).id }
    for (const [route] of [...good, ...streams.map((one) => [one, {}] as const)]) {
      const [method, path] = route.split(" ") as [string, string]
      const { parameters = [], requestBody } = operation(route)
      const upper = method.toUpperCase()
      const expectFailure = async (asked: string, options: object, status: number, code: string) => {
        const answer = await fixture.ask(asked, { method: upper, ...options })
        expect(answer.status, `${upper} ${asked}: ${answer.text}`).toBe(status)
        expectFits(failureSchemaOf(route), answer.json, route)
        expect(answer.json.error.code).toBe(code)
      }
      if (requestBody !== undefined) {
        const target = address(path, fresh)
        await expectFailure(target, { raw: "{", headers: { "content-type": "application/json" } }, 400, "INVALID_INPUT")
        await expectFailure(target, { raw: "a=1", headers: { "content-type": "text/plain" } }, 400, "INVALID_INPUT")
        await expectFailure(target, { body: { surprise: true } }, 400, "INVALID_INPUT")
        await expectFailure(target, { body: [] }, 400, "INVALID_INPUT")
      }
      for (const { name, in: place, schema } of parameters) {
        if (place === "query" && schema.type === "integer") {
          await expectFailure(`${address(path, fresh)}?${name}=-5`, {}, 400, "INVALID_INPUT")
          await expectFailure(`${address(path, fresh)}?${name}=many`, {}, 400, "INVALID_INPUT")
        }
        if (place !== "path" || name === "path") continue
        const body = route.includes("restore") && route.includes("cid") ? { body: { dryRun: true } } : bodyOf(route)
        const missing = { ...fresh, [name]: name === "sid" ? "ffffffffffff" : "00000000-0000-7000-8000-000000000000" }
        await expectFailure(address(path, missing), body, 404, "NOT_FOUND")
      }
    }
  })

  it("do not know a checkpoint under another session, and do nothing to it", async () => {
    const [mine, other] = [await fixture.createSession(), await fixture.createSession()]
    const foreign = { ...names, sid: mine.id, cid: (await fixture.take(other)).id }
    for (const [route] of good) {
      const [method, path] = route.split(" ") as [string, string]
      if (!path.includes("{sid}") || !path.includes("{cid}")) continue
      const body = route.endsWith("/restore") ? { body: { mode: "both" } } : bodyOf(route)
      const answer = await fixture.ask(address(path, foreign), { method: method.toUpperCase(), ...body })
      expect([answer.status, answer.json?.error?.code], route).toEqual([404, "NOT_FOUND"])
    }
    const kept = await fixture.ask(`/api/sessions/${other.id}/checkpoints/${foreign.cid}`, { method: "GET" })
    expect(kept.json).toMatchObject({ ok: true, checkpoint: { pinned: false } })
    const restores = await fixture.runtime.store.context.driver.all("SELECT id FROM restores WHERE session_id = ?", [
      mine.id,
    ])
    expect(restores).toEqual([])
  })

  it("answer what is not there, and what is not allowed there, as JSON", async () => {
    for (const [path, method] of [
      ["/api/nothing", "GET"],
      ["/api/sessions", "PUT"],
      ["/api/health/", "GET"],
      ["/nothing", "GET"],
      ["/api", "GET"],
    ] as const) {
      const { status, json } = await fixture.ask(path, { method })
      expect([status, json?.ok, json?.error.code], path).toEqual([404, false, "NOT_FOUND"])
    }
  })
})

function bodyOf(route: string): object {
  const body = good.find(([one]) => one === route)?.[1].body
  return body === undefined ? {} : { body }
}

function failureSchemaOf(route: string): object {
  return operation(route).responses["400"]?.content["application/json"]?.schema as object
}

function expectFits(schema: object, value: unknown, route: string): void {
  const resolved = { ...schema, $defs: undefined, components: document.components }
  const result = z.fromJSONSchema(JSON.parse(JSON.stringify(resolved))).safeParse(value)
  expect(result.error?.issues ?? [], `${route}: ${JSON.stringify(value).slice(0, 300)}`).toEqual([])
}
