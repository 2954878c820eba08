/** The real program serves the real page, lets one browser in, gives a second address, and stops when it is told to. */
import { once } from "node:events"
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest"
import { buildOnce, openPlace, type Place } from "./real-keepup.js"

let place: Place
beforeAll(buildOnce, 120_000)
beforeEach(() => {
  place = openPlace()
})
afterEach(() => place.remove())

it("serves, answers a second start with a fresh address, and ends cleanly", async () => {
  const { session } = place.ask("session", "new", "shown")
  const child = place.start("serve", "--port", "0", "--json")
  try {
    const [line] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer]
    const { server } = JSON.parse(line.toString())
    const page = await fetch(server.url)
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(await page.text())?.[1] as string
    expect((await fetch(server.url + script)).headers.get("content-type")).toContain("text/javascript")
    const second = place.ask("serve", "--port", new URL(server.url).port)
    expect(second.server).toMatchObject({ url: server.url, isRunning: true })
    for (const { loginUrl } of [server, second.server]) {
      const code = new URL(loginUrl).hash.replace("#code=", "")
      const request = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code }),
      }
      const { token } = (await (await fetch(`${server.url}api/login`, request)).json()) as { token: string }
      const listed = await fetch(`${server.url}api/sessions`, { headers: { authorization: `Bearer ${token}` } })
      expect(await listed.json()).toMatchObject({ ok: true, sessions: [{ id: session.id }] })
    }
  } finally {
    child.kill("SIGTERM")
  }
  const [code] = await once(child, "exit")
  expect(code).toBe(130)
})
