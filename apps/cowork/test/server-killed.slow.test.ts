/** The server killed at any moment: who follows catches up on the next one, and a restore is finished or taken back. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Checkpoint, openRuntime, type Runtime } from "@ku0/agent-runtime"
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest"
import { ask } from "./server-fixture.js"
import { follow } from "./server-follow.js"
import { bundleServer, type ServerProcess, startServer } from "./server-process.js"

let bundle: string
let root: string
let runtime: Runtime
let server: ServerProcess | undefined
beforeAll(async () => {
  bundle = await bundleServer()
})
afterAll(() => rmSync(bundle, { force: true }))
beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-killed-")))
  for (const name of ["state", "workspace"]) mkdirSync(join(root, name), { mode: 0o700 })
  runtime = await openRuntime({ ...places(), environment: process.env, recover: false })
})
afterEach(async () => {
  await server?.kill()
  await runtime.close()
  rmSync(root, { recursive: true, force: true })
})

const places = () => ({ stateDirectory: join(root, "state"), workspacePath: join(root, "workspace") })
const token = () => readFileSync(join(root, "state", "token"), "utf8").trim()
const until = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 5 })
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

it("clients catch up with no gap and no repeat when it is killed and started again on the same port", async () => {
  const { workspacePath } = places()
  const { id } = await runtime.store.sessions.create({ workspacePath, name: "followed" })
  server = await startServer(bundle, places())
  const { port } = server
  const path = `/api/sessions/${id}/events`
  const clients = range(1, 10).map(() => follow({ port, path, token: token(), after: 0 }))
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 20; i++) {
      const message = { role: "user", content: `${round} ${i}` }
      await runtime.store.log.append(id, [{ type: "message:added", data: { message } }])
      if (i === 10) await server.kill()
      if (i === 15) server = await startServer(bundle, places(), port)
    }
  }
  const { seq } = await runtime.store.log.head(id)
  for (const client of clients) {
    await until(() => expect(client.seqs.at(-1)).toBe(seq))
    expect(client.seqs).toEqual(range(1, seq))
    client.stop()
  }
})

it("a restore it was killed in is whole or not there at all after the next start", async () => {
  const { workspacePath } = places()
  const count = 400
  const write = (text: string) => {
    for (let i = 0; i < count; i++) writeFileSync(join(workspacePath, `${i}.txt`), `${text} ${i}\n`)
  }
  const read = () =>
    new Set(readdirSync(workspacePath).map((name) => readFileSync(join(workspacePath, name), "utf8").split(" ")[0]))
  write("old")
  const session = await runtime.store.sessions.create({ workspacePath, name: "restored" })
  const old = (await runtime.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
  const outcomes: string[] = []
  // some are through before they are killed; then there are more
  for (let round = 0; round < 8 || (outcomes.length === 0 && round < 60); round++) {
    write(`new${round}`)
    server = await startServer(bundle, places())
    const headers = { authorization: `Bearer ${token()}` }
    const restore = `/api/sessions/${session.id}/checkpoints/${old.id}/restore`
    const begun = (await runtime.store.log.head(session.id)).seq
    const answer = ask(server.port, restore, { method: "POST", body: { mode: "files" }, headers }).catch(
      () => undefined,
    )
    // killed at another place each round: after the safety checkpoint, the intent, and with more and more files written
    await until(async () => {
      const entries = await runtime.store.log.read(session.id, { after: begun })
      expect(entries.map(({ type }) => type)).toContain("session:restore-started")
      if (round > 0) expect(read().size + entries.length).toBeGreaterThan(2)
    })
    await server.kill()
    await answer
    server = await startServer(bundle, places())
    outcomes.push(...server.settled)
    expect(read().size).toBe(1)
    const rows = await runtime.store.context.driver.all("SELECT status FROM restores WHERE status = 'started'")
    expect(rows).toEqual([])
    const held = await ask(server.port, `/api/sessions/${session.id}`, { headers })
    expect(held.json.guard).toEqual({ session: null, workspace: null })
    await server.kill()
  }
  expect(outcomes.length).toBeGreaterThan(0)
})
