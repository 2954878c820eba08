/** The real program serves the real page, lets one browser in, gives a second address, and stops when it is told to. */
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest"
import { buildOnce, openPlace, type Place } from "./real-keepup.js"

let place: Place
const tokenFile = "home/.local/state/keepup/token"
/** A command that goes on until the file is there. */
const until = (file: string) => `until [ -e ${file} ]; do sleep 0.05; done`
beforeAll(buildOnce)
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

it("opens a browser on a server that runs already, also when the browser is slower than the command", async () => {
  const bin = join(place.root, "bin")
  const [go, seen] = [join(place.root, "go"), join(place.root, "seen")]
  mkdirSync(bin)
  for (const name of ["xdg-open", "open"]) {
    const lines = ["#!/bin/sh", `until [ -e '${go}' ]; do sleep 0.05; done`]
    lines.push(`cat "\${1#file://}" > '${seen}.part' && mv '${seen}.part' '${seen}'`, "")
    writeFileSync(join(bin, name), lines.join("\n"), { mode: 0o755 })
  }
  place.environment["PATH"] = `${bin}:${place.environment["PATH"]}`
  const child = place.start("serve", "--port", "0", "--json")
  try {
    const [line] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer]
    const { server } = JSON.parse(line.toString())
    const second = place.ask("serve", "--open", "--port", new URL(server.url).port)
    writeFileSync(go, "")
    await expect.poll(() => existsSync(seen), { timeout: 60_000 }).toBe(true)
    expect(readFileSync(seen, "utf8")).toContain(second.server.loginUrl)
  } finally {
    writeFileSync(go, "")
    child.kill("SIGTERM")
  }
  await once(child, "exit")
})

it("shows the run of another process live, every entry once", async () => {
  const { session } = place.ask("session", "new", "watched")
  const child = place.start("serve", "--port", "0", "--json")
  const stop = new AbortController()
  try {
    const [line] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer]
    const { url } = JSON.parse(line.toString()).server as { url: string }
    const headers = { authorization: `Bearer ${readFileSync(join(place.root, tokenFile), "utf8").trim()}` }
    const answer = await fetch(`${url}api/sessions/${session.id}/events?after=0`, { headers, signal: stop.signal })
    const script = place.script([
      { content: "waiting", toolCalls: [{ name: "run_command", arguments: { command: until("seen") } }] },
      { content: "done" },
    ])
    const agent = place.start("run", "write b", "-S", session.id, "--script", script, "--approval", "auto")
    const ended = once(agent, "exit") // it may be gone before its last entry is here
    let text = ""
    const decoder = new TextDecoder()
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true })
      if (text.includes('"purpose":"run"')) place.write("seen", "")
      if (text.includes('"type":"run:ended"') && text.includes('"content":"done"')) break
    }
    await ended
    const seqs = [...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq))
    expect(seqs).toEqual(seqs.map((_, i) => i + 1))
  } finally {
    stop.abort()
    child.kill("SIGTERM")
  }
  await once(child, "exit")
})
