/** 200 clients on one session's stream and 500 requests a second, while another process writes; then the same with a kill. */
import { setTimeout as sleep } from "node:timers/promises"
import { median, quantile } from "../harness/stats.mjs"
import { openAsker, openFollower } from "./clients.mjs"
import { say, startServer } from "./place.mjs"

const followerCount = 200
const perSecond = 500

/** @param {{ isKilled: boolean, seconds: number }} options */
export async function load(program, place, { isKilled, seconds }) {
  const { runtime, followed } = place
  let server = await startServer(program, place)
  const { port } = server
  const token = place.token()
  const base = `/api/sessions/${followed.id}`
  const followers = Array.from({ length: followerCount }, () => openFollower({ port, path: `${base}/events`, token }))
  await caughtUp(runtime, followed, followers)
  const paths = ["/api/health", "/api/sessions?limit=20", base, `${base}/entries?after=500&limit=50`]
  paths.push(`${base}/messages?around=1000&limit=30`, `${base}/checkpoints`, `${base}/graph`)
  const asker = openAsker({ port, paths, token, perSecond })
  const memory = []
  const cpuBefore = server.cpuMs()
  let written = 0
  let downMs = 0
  const begin = performance.now()
  while (performance.now() - begin < seconds * 1_000) {
    await runtime.store.log.append(followed.id, [say(`live ${written++}`)])
    if (written % 20 === 0) memory.push(await server.usedMb())
    await sleep(100)
    if (!isKilled || downMs > 0 || performance.now() - begin < seconds * 400) continue
    const down = performance.now()
    await server.kill()
    for (let i = 0; i < 20; i++) await runtime.store.log.append(followed.id, [say(`while it was down ${i}`)])
    server = await startServer(program, place, port)
    downMs = performance.now() - down
  }
  const took = await asker.stop()
  await caughtUp(runtime, followed, followers)
  for (const follower of followers) follower.stop()
  const cpuMs = isKilled ? null : server.cpuMs() - cpuBefore
  const third = Math.floor(memory.length / 3)
  const result = {
    ...{
      seconds: took,
      sent: asker.sent,
      answered: asker.answered,
      errors: asker.errors.length,
      refused: asker.refused,
    },
    firstErrors: [...new Set(asker.errors)].slice(0, 5),
    perSecond: asker.answered / took,
    medianMs: median(asker.latencies),
    /** With the streams' share. */
    cpuMsEach: cpuMs === null ? null : cpuMs / asker.answered,
    p99Ms: quantile(asker.latencies, 0.99),
    ...{ followers: followers.length, written, downMs },
    gaps: followers.reduce((sum, { gaps }) => sum + gaps, 0),
    repeats: followers.reduce((sum, { repeats }) => sum + repeats, 0),
    breaks: followers.reduce((sum, { breaks }) => sum + breaks, 0),
    memoryMb: { middle: median(memory.slice(third, 2 * third)), end: median(memory.slice(-third)) },
  }
  await server.kill()
  return result
}

/** Every follower has the newest entry; no entry is on its way any more. */
async function caughtUp({ store }, session, followers) {
  const { seq } = await store.log.head(session.id)
  const end = performance.now() + 60_000
  while (followers.some(({ last }) => last < seq)) {
    if (performance.now() > end) throw new Error("A client did not catch up within a minute.")
    await sleep(20)
  }
}
