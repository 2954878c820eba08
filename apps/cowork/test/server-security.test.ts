/** The server from the point of view of those who should not get in: other sites, other names, other users, wild input. */
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { findRunningServer, openServer } from "../src/server/index.js"
import { type Answer, ask, openFixture, type ServerFixture } from "./server-fixture.js"

let fixture: ServerFixture
beforeEach(async () => {
  fixture = await openFixture()
})
afterEach(() => fixture.close())

function expectRefused({ status, json }: Answer, wanted: number): void {
  expect([status, json?.ok, json?.error?.code]).toEqual([wanted, false, "UNAUTHORIZED"])
}

const noToken = { authorization: undefined }

describe("the door", () => {
  it("keeps a token that only its owner can read, and the same one after a new start", async () => {
    const path = join(fixture.stateDirectory, "token")
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, "utf8").trim()).toBe(fixture.token)
    chmodSync(path, 0o644)
    const again = await openServer({ runtime: fixture.runtime, port: 0, version: "1" })
    const headers = { authorization: `Bearer ${fixture.token}` }
    expect((await ask(again.port, "/api/health", { headers })).status).toBe(200)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await again.close()
  })

  it("lets nobody ask anything under /api without the token, streams and the document included", async () => {
    for (const path of ["health", "sessions", "events", "openapi.json", "nothing", "sessions/abcd/events"]) {
      expectRefused(await fixture.ask(`/api/${path}`, { headers: noToken }), 401)
      expectRefused(await fixture.ask(`/api/${path}?token=${fixture.token}`, { headers: noToken }), 401)
      expectRefused(
        await fixture.ask(`/api/${path}`, { headers: { ...noToken, cookie: `token=${fixture.token}` } }),
        401,
      )
    }
    expectRefused(await fixture.ask("/api//sessions", { headers: noToken }), 401)
    expectRefused(await fixture.ask("/page/../api/sessions", { headers: noToken }), 401)
    expectRefused(await fixture.ask("/api/login/../sessions", { headers: noToken }), 401)
    expect((await fixture.ask("/%61pi/sessions", { headers: noToken })).json?.sessions).toBeUndefined()
    expect((await fixture.ask("/API/sessions", { headers: noToken })).json?.sessions).toBeUndefined()
  })

  it("takes many wrong tokens without giving way, and without locking the right one out", async () => {
    const statuses: number[] = []
    for (let i = 0; i < 40; i++) {
      const answer = await fixture.ask("/api/health", { headers: { authorization: `Bearer wrong${i}` } })
      expect(answer.json.error.code).toBe("UNAUTHORIZED")
      statuses.push(answer.status)
    }
    expect(new Set(statuses.slice(0, 20))).toEqual(new Set([401]))
    expect(new Set(statuses.slice(20))).toEqual(new Set([403]))
    expectRefused(await fixture.ask("/api/login", { method: "POST", body: { code: "guess" }, headers: noToken }), 403)
    expect((await fixture.ask("/api/health")).status).toBe(200)
    for (const header of [fixture.token, `Basic ${fixture.token}`, `Bearer ${fixture.token}x`, "Bearer ", ""]) {
      expect((await fixture.ask("/api/health", { headers: { authorization: header } })).status).not.toBe(200)
    }
  })

  it("trades a code once", async () => {
    const code = new URL(fixture.server.createLoginUrl()).hash.replace("#code=", "")
    const trade = () => fixture.ask("/api/login", { method: "POST", body: { code }, headers: noToken })
    expect((await trade()).json).toEqual({ ok: true, token: fixture.token })
    expectRefused(await trade(), 401)
  })

  it("shows a stranger on the port no token", async () => {
    const heard: string[] = []
    const stranger = createServer((request, response) => {
      heard.push(JSON.stringify(request.headers))
      response.end(JSON.stringify({ ok: true, proof: "me too", code: "x" }))
    })
    await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve))
    const { port } = stranger.address() as AddressInfo
    expect(await findRunningServer(fixture.runtime, port)).toBeUndefined()
    expect(heard).toHaveLength(1)
    expect(heard.join()).not.toContain(fixture.token)
    await new Promise((resolve) => stranger.close(resolve))
    const url = (await findRunningServer(fixture.runtime, fixture.server.port)) as string
    const code = new URL(url).hash.replace("#code=", "")
    expect((await fixture.ask("/api/login", { method: "POST", body: { code } })).json.token).toBe(fixture.token)
  })
})

describe("another site", () => {
  it("may not ask, whatever it says it is, even with the token", async () => {
    const { port } = fixture.server
    for (const origin of ["http://evil.example", "null", `http://127.0.0.1:${port + 1}`, `https://127.0.0.1:${port}`]) {
      expectRefused(await fixture.ask("/api/sessions", { headers: { origin } }), 403)
    }
    for (const site of ["cross-site", "same-site"]) {
      expectRefused(await fixture.ask("/api/sessions", { headers: { "sec-fetch-site": site } }), 403)
    }
    const own = { origin: `http://127.0.0.1:${port}`, "sec-fetch-site": "same-origin" }
    expect((await fixture.ask("/api/sessions", { headers: own })).status).toBe(200)
  })

  it("gets no leave from a preflight, and no answer it could read", async () => {
    const headers = { origin: "http://evil.example", "access-control-request-method": "POST", ...noToken }
    const preflight = await fixture.ask("/api/sessions", { method: "OPTIONS", headers })
    expect(preflight.status).toBe(403)
    for (const { headers: got } of [preflight, await fixture.ask("/api/sessions"), await fixture.ask("/")]) {
      expect(Object.keys(got).filter((name) => name.startsWith("access-control"))).toEqual([])
    }
  })

  it("can't send a form here", async () => {
    const session = await fixture.createSession()
    const taken = await fixture.take(session)
    const path = `/api/sessions/${session.id}/checkpoints/${taken.id}/restore`
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      const form = { method: "POST", raw: '{"mode":"files"}', headers: { "content-type": type, ...noToken } }
      expectRefused(await fixture.ask(path, form), 401)
      expectRefused(await fixture.ask(path, { ...form, headers: { ...form.headers, origin: "null" } }), 403)
      const withToken = await fixture.ask(path, { ...form, headers: { "content-type": type } })
      expect(withToken.status).toBe(400)
    }
    expect((await fixture.runtime.store.sessions.get(session.id)).checkpointCount).toBe(1)
  })

  it("can't come in under a name of its own that points here", async () => {
    const { port } = fixture.server
    for (const host of [`evil.example:${port}`, "evil.example", `127.0.0.1.evil.example:${port}`, "127.0.0.1:1"]) {
      expectRefused(await fixture.ask("/api/sessions", { headers: { host } }), 403)
      expect((await fixture.ask("/", { headers: { host } })).status).toBe(403)
    }
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`]) {
      expect((await fixture.ask("/api/sessions", { headers: { host } })).status).toBe(200)
    }
  })

  it("finds headers on every answer that leave it nothing to do", async () => {
    for (const path of ["/", "/api/health", "/nothing", "/api/nothing"]) {
      const { headers } = await fixture.ask(path)
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
      })
    }
    const policy = (await fixture.ask("/")).headers["content-security-policy"] as string
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
  })
})

describe("a host others can reach", () => {
  it("has to be asked for", async () => {
    const request = { runtime: fixture.runtime, port: 0, host: "0.0.0.0", version: "1" }
    await expect(openServer(request)).rejects.toMatchObject({ code: "INVALID_INPUT" })
    const open = await openServer({ ...request, isOpenToNetwork: true })
    const headers = { host: `evil.example:${open.port}` }
    expect((await ask(open.port, "/", { headers })).status).toBe(403)
    expectRefused(await ask(open.port, "/api/health", { headers: { host: `10.1.2.3:${open.port}` } }), 401)
    await open.close()
  })
})

describe("wild input", () => {
  it("reaches no file outside of the snapshot, however it is written", async () => {
    writeFileSync(join(fixture.root, "secret.txt"), "outside")
    fixture.write("in/a.txt", "inside")
    symlinkSync("../secret.txt", join(fixture.workspacePath, "link"))
    symlinkSync("..", join(fixture.workspacePath, "up"))
    mkdirSync(join(fixture.workspacePath, ".git"))
    writeFileSync(join(fixture.workspacePath, ".git", "config"), "token")
    const session = await fixture.createSession()
    const { id } = await fixture.take(session)
    const files = `/api/sessions/${session.id}/checkpoints/${id}/files`
    expect((await fixture.ask(`${files}/in/a.txt`)).text).toBe("inside")
    for (const path of [
      ...["../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt", "%2e%2e%2fsecret.txt", "in/../../secret.txt"],
      ...["in%2f..%2f..%2fsecret.txt", "/etc/passwd", "%2fetc%2fpasswd", "up/secret.txt", "link/x", ".git/config"],
      ...[
        "in%00/a.txt",
        "..%5csecret.txt",
        "%252e%252e%252fsecret.txt",
        "in//a.txt",
        "./in/a.txt%00",
        "..;/secret.txt",
      ],
    ]) {
      const answer = await fixture.ask(`${files}/${path}`)
      expect([400, 404], path).toContain(answer.status)
      expect(answer.text).not.toContain("outside")
    }
    const link = await fixture.ask(`${files}/link`)
    expect([link.text, link.headers["x-keepup-kind"]]).toEqual(["../secret.txt", "link"])
    const restore = `/api/sessions/${session.id}/checkpoints/${id}/restore`
    for (const path of ["../secret.txt", "/etc/passwd", "in/../../x", ""]) {
      expect((await fixture.ask(restore, { method: "POST", body: { paths: [path] } })).status).toBe(400)
    }
  })

  it("never runs in the browser when a stored file is opened", async () => {
    fixture.write("page.html", "<script>alert(1)</script>")
    fixture.write("image.svg", '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')
    fixture.write("bytes.bin", "a\0b")
    const session = await fixture.createSession()
    const { id } = await fixture.take(session)
    for (const [name, type] of [
      ["page.html", "text/plain; charset=utf-8"],
      ["image.svg", "text/plain; charset=utf-8"],
      ["bytes.bin", "application/octet-stream"],
    ] as const) {
      const { headers } = await fixture.ask(`/api/sessions/${session.id}/checkpoints/${id}/files/${name}`)
      expect(headers["content-type"]).toBe(type)
      expect(headers["content-security-policy"]).toContain("sandbox")
      expect(headers["x-content-type-options"]).toBe("nosniff")
    }
  })

  it("refuses a body that is too long, also one that does not say so", async () => {
    const session = await fixture.createSession()
    const path = `/api/sessions/${session.id}/checkpoints`
    const raw = JSON.stringify({ note: "x".repeat(5 << 20) })
    const headers = { "content-type": "application/json" }
    const told = await fixture.ask(path, { method: "POST", raw, headers }).catch(() => undefined)
    if (told !== undefined) expect([told.status, told.json.error.code]).toEqual([400, "INVALID_INPUT"])
    const chunked = { ...headers, "transfer-encoding": "chunked" }
    const untold = await fixture.ask(path, { method: "POST", raw, headers: chunked }).catch(() => undefined)
    if (untold !== undefined) expect([untold.status, untold.json.error.code]).toEqual([400, "INVALID_INPUT"])
    expect((await fixture.runtime.store.sessions.get(session.id)).checkpointCount).toBe(0)
  })

  it("lives through what is no HTTP, and through addresses that mean nothing", async () => {
    for (const text of ["\0\0\0\0\r\n\r\n", "GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"]) {
      await new Promise<void>((resolve) => {
        const socket = connect(fixture.server.port, "127.0.0.1", () => socket.end(text))
        socket.on("error", () => resolve())
        socket.on("close", () => resolve())
        socket.resume()
      })
    }
    for (const path of [
      "/api/sessions/%",
      "/api/sessions/%E0%A4%A",
      "/api/sessions/%00%00%00%00",
      `/${"a".repeat(8_000)}`,
    ]) {
      const { status } = await fixture.ask(path)
      expect(status, path.slice(0, 40)).toBeGreaterThanOrEqual(400)
      expect(status).toBeLessThan(500)
    }
    expect((await fixture.ask("/api/health")).status).toBe(200)
  })
})

describe("the running guard", () => {
  it("refuses restore, undo and delete while someone works there, and says who", async () => {
    fixture.write("a.txt", "one")
    const session = await fixture.createSession()
    const { id } = await fixture.take(session)
    fixture.write("a.txt", "two")
    const checkpoint = `/api/sessions/${session.id}/checkpoints/${id}`
    const { json } = await fixture.ask(`${checkpoint}/restore`, { method: "POST", body: { mode: "files" } })
    fixture.write("a.txt", "three")
    const lease = await fixture.runtime.store.leases.take(`session:${session.id}`, { purpose: "run" })
    for (const [path, method, body] of [
      [`${checkpoint}/restore`, "POST", { mode: "both" }],
      [`${checkpoint}/restore`, "POST", { mode: "both", branch: true }],
      [`/api/restores/${json.restore.id}/undo`, "POST", undefined],
      [checkpoint, "DELETE", undefined],
      [`/api/sessions/${session.id}`, "DELETE", undefined],
    ] as const) {
      const answer = await fixture.ask(path, { method, ...(body && { body }) })
      expect([answer.status, answer.json.error.code], path).toEqual([409, "SESSION_RUNNING"])
      expect(answer.json.error.details).toMatchObject({ purpose: "run", pid: process.pid })
    }
    expect(readFileSync(join(fixture.workspacePath, "a.txt"), "utf8")).toBe("three")
    const shown = await fixture.ask(`/api/sessions/${session.id}`)
    expect(shown.json.guard.session).toMatchObject({ purpose: "run", pid: process.pid })
    expect((await fixture.ask(checkpoint)).status, "the checkpoint is still there").toBe(200)
    await lease.release()
    const undone = await fixture.ask(`/api/restores/${json.restore.id}/undo`, { method: "POST" })
    expect([undone.status, readFileSync(join(fixture.workspacePath, "a.txt"), "utf8")]).toEqual([200, "two"])
  })
})
