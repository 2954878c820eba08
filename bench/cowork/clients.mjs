/** Clients of a server: followers that come back after a break, and requests at a steady rate, sent when they are due. */
import { Agent, get } from "node:http"

/** One client of a session's stream. Counts what came twice or out of order. */
export function openFollower({ port, path, token }) {
  const follower = { last: 0, gaps: 0, repeats: 0, breaks: 0, stop }
  let isStopped = false
  let request

  function open() {
    if (isStopped) return
    const headers = { authorization: `Bearer ${token}`, "last-event-id": String(follower.last) }
    request = get({ host: "127.0.0.1", port, path, headers, agent: false }, read)
    request.on("error", () => {})
    request.on("close", () => {
      if (isStopped) return
      follower.breaks++
      setTimeout(open, 100)
    })
  }

  function read(response) {
    let rest = ""
    response.setEncoding("latin1")
    response.on("error", () => {})
    response.on("data", (text) => {
      rest += text
      const end = rest.lastIndexOf("\n\n")
      if (end < 0) return
      for (const [, id] of rest.slice(0, end).matchAll(/^id: (\d+)$/gm)) hear(Number(id))
      rest = rest.slice(end + 2)
    })
  }

  function hear(seq) {
    if (seq <= follower.last) follower.repeats++
    else if (seq !== follower.last + 1) follower.gaps++
    follower.last = Math.max(follower.last, seq)
  }

  function stop() {
    isStopped = true
    request.destroy()
  }

  open()
  return follower
}

/** Asks at a steady rate until stopped; a request that is late is sent all the same, so that slowness shows. */
export function openAsker({ port, paths, token, perSecond }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  const headers = { authorization: `Bearer ${token}` }
  const asker = { sent: 0, answered: 0, errors: [], refused: 0, latencies: [], stop }
  const started = performance.now()
  const timer = setInterval(() => {
    const due = ((performance.now() - started) / 1_000) * perSecond
    while (asker.sent < due) ask(paths[asker.sent % paths.length])
  }, 4)
  let open = 0

  function ask(path) {
    asker.sent++
    open++
    const begin = performance.now()
    const done = (record) => {
      open--
      record()
    }
    const request = get({ host: "127.0.0.1", port, path, headers, agent }, (response) => {
      response.resume()
      response.on("end", () =>
        done(() => {
          asker.answered++
          asker.latencies.push(performance.now() - begin)
          if (response.statusCode !== 200) asker.errors.push(`${response.statusCode} ${path}`)
        }),
      )
      response.on("error", (error) => done(() => fail(error)))
    })
    request.on("error", (error) => done(() => fail(error)))
  }

  function fail(error) {
    if (["ECONNREFUSED", "ECONNRESET", "EPIPE"].includes(error.code)) asker.refused++
    else asker.errors.push(error.message)
  }

  /** Waits for what is on its way. */
  async function stop() {
    clearInterval(timer)
    const end = performance.now() + 10_000
    while (open > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10))
    for (let i = 0; i < open; i++) asker.errors.push("no answer")
    agent.destroy()
    return (performance.now() - started) / 1_000
  }

  return asker
}
