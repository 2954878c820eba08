/** A session of 100,000 entries and a comparison of 10,000 files: any part of them can be had, and only parts are made. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { get } from "node:http"
import { join } from "node:path"
import type { Session } from "@ku0/agent-runtime"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { openFixture, type ServerFixture } from "./server-fixture.js"
import { follow } from "./server-follow.js"
import { bundleServer, type ServerProcess, startServer } from "./server-process.js"

let fixture: ServerFixture
let session: Session
const total = 100_000
const fileCount = 10_000
beforeAll(async () => {
  fixture = await openFixture()
  session = await fixture.createSession("long")
  for (let done = 1; done < total; done += 1_000) {
    const drafts = Array.from({ length: Math.min(1_000, total - done) }, (_, i) => {
      const message = { role: "user", content: `message ${done + i}` }
      return { type: "message:added", data: { message } }
    })
    await fixture.runtime.store.log.append(session.id, drafts)
  }
}, 300_000)
afterAll(() => fixture.close())

const until = (check: () => void) => vi.waitFor(check, { timeout: 120_000, interval: 20 })

describe("a session of 100,000 entries", () => {
  it("is read from the end, from any place, and by index", async () => {
    const base = `/api/sessions/${session.id}`
    expect((await fixture.ask(base)).json).toMatchObject({ headSeq: total })
    const last = (await fixture.ask(`${base}/messages?limit=3`)).json
    expect(last.total).toBe(total - 1)
    expect(last.messages.map(({ index }: { index: number }) => index)).toEqual([total - 3, total - 2, total - 1])
    const middle = (await fixture.ask(`${base}/messages?around=50000&limit=11`)).json.messages
    expect(middle.map(({ index }: { index: number }) => index)).toContain(50_000)
    expect(middle).toHaveLength(11)
    expect(middle[5].message.content).toBe(`message ${middle[5].index}`)
    const page = (await fixture.ask(`${base}/entries?after=70000&limit=2`)).json.entries
    expect(page.map(({ seq }: { seq: number }) => seq)).toEqual([70_001, 70_002])
    const back = (await fixture.ask(`${base}/entries?before=70000&limit=2`)).json.entries
    expect(back.map(({ seq }: { seq: number }) => seq)).toEqual([69_999, 69_998])
  })

  it("is streamed from its start to a client that begins there, each entry once", async () => {
    const { token, server } = fixture
    const client = follow({ port: server.port, path: `/api/sessions/${session.id}/events`, token, after: 0 })
    await until(() => expect(client.seqs.at(-1)).toBe(total))
    expect(client.seqs).toHaveLength(total)
    expect(client.seqs.every((seq, i) => seq === i + 1)).toBe(true)
    client.stop()
  })

  it("can be replayed from any position", async () => {
    const branch = await fixture.runtime.store.sessions.create({
      ...{ workspacePath: fixture.workspacePath, name: "branch", parent: { sessionId: session.id, seq: 1 } },
    })
    const from = await fixture.runtime.store.checkpoints.create({ sessionId: branch.id, trigger: "manual" })
    const drafts = Array.from({ length: 5_000 }, () => ({ type: "noise:made", data: {} }))
    await fixture.runtime.store.log.append(branch.id, drafts)
    const path = `/api/sessions/${branch.id}/checkpoints/${from.id}/replay`
    const body = { offset: 4_998, limit: 10 }
    const { json } = await fixture.ask(path, { method: "POST", body })
    expect(json).toMatchObject({ total: 5_000, offset: 4_998 })
    expect(json.entries).toHaveLength(2)
  })
})

describe("clients that do not read", () => {
  it("cost a bounded amount of memory each, however much there is to send", async () => {
    const { stateDirectory, workspacePath, token } = fixture
    const bundle = await bundleServer()
    const server: ServerProcess = await startServer(bundle, { stateDirectory, workspacePath })
    const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, "utf8"))?.[1])
    const headers = { authorization: `Bearer ${token}`, "last-event-id": "0" }
    const path = `/api/sessions/${session.id}/events`
    let opened = 0
    const clients = Array.from({ length: 50 }, () => {
      const request = get({ host: "127.0.0.1", port: server.port, path, headers, agent: false }, (response) => {
        opened++
        response.pause()
      })
      return request.on("error", () => undefined)
    })
    await until(() => expect(opened).toBe(50))
    const reader = follow({ port: server.port, path, token, after: 0 })
    await until(() => expect(reader.seqs).toHaveLength(total))
    // all of the session to each of them would be over a gigabyte
    expect(memory()).toBeLessThan(400 << 10)
    reader.stop()
    for (const client of clients) client.destroy()
    await server.kill()
  })
})

describe("a comparison of 10,000 files", () => {
  it("comes in pages that belong together, and answers others meanwhile", async () => {
    const write = (text: string) => {
      for (let i = 0; i < fileCount; i++) {
        const folder = join(fixture.workspacePath, `folder ${i % 100}`)
        if (i < 100) mkdirSync(folder, { recursive: true })
        writeFileSync(join(folder, `file ${i}.txt`), `${text} ${i}\n`)
      }
    }
    write("one")
    const files = await fixture.createSession("files")
    const first = await fixture.take(files)
    write("two")
    const second = await fixture.take(files)
    const base = `/api/sessions/${files.id}/checkpoints/${first.id}`
    const [page, health] = await Promise.all([fixture.ask(`${base}/diff?to=${second.id}`), fixture.ask("/api/health")])
    expect(health.status).toBe(200)
    expect(page.json).toMatchObject({ total: fileCount, insertions: fileCount, deletions: fileCount })
    const seen = new Set<string>()
    for (let offset = 0; offset < fileCount; offset += 1_000) {
      const query = `?to=${second.id}&offset=${offset}&limit=1000&look=${encodeURIComponent(page.json.look)}`
      for (const { path } of (await fixture.ask(`${base}/diff${query}`)).json.files) seen.add(path)
    }
    expect(seen.size).toBe(fileCount)
    const one = `${encodeURIComponent("folder 7")}/${encodeURIComponent("file 7.txt")}`
    const { patch } = (await fixture.ask(`${base}/diff/${one}?to=${second.id}`)).json
    expect(patch).toContain("-one 7\n+two 7\n")
    const top = (await fixture.ask(`${base}/files?folder=&limit=10`)).json
    expect([top.total, top.files.length, top.files[0].kind]).toEqual([100, 10, "folder"])
    const now = (await fixture.ask(`${base}/diff?limit=5`)).json
    expect([now.total, now.files.length]).toEqual([fileCount, 5])
    const next = (await fixture.ask(`${base}/diff?limit=5&offset=5&look=${now.look}`)).json
    expect([next.look, next.files.length]).toEqual([now.look, 5])
    const plan = (await fixture.ask(`${base}/restore`, { method: "POST", body: { dryRun: true, planLimit: 20 } })).json
    expect([plan.counts.write, plan.plan.write.length, plan.applied]).toEqual([fileCount, 20, false])
  })
})
