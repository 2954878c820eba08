/**
 * Appends until its time is over, at least once, and says what was acknowledged. Arguments: address, `own`,
 * `shared SESSION` or `lease SESSION`, milliseconds.
 */
import { isKeepupError, type SessionId } from "@ku0/agent-runtime-core"
import { openStore } from "../../../src/store/open-store.js"
import { say } from "./said.js"

export interface Appended {
  readonly appended: { readonly sessionId: string; readonly seq: number; readonly n: number }
}

export interface Failed {
  readonly failed: { readonly code: string; readonly message: string }
}

const [url = "", mode = "own", session = "", ms = "1000"] = process.argv.slice(2)
const store = await openStore(url)
const sessionId = mode === "own" ? (await store.sessions.create({ workspacePath: "/w" })).id : (session as SessionId)
say({ open: sessionId })
const until = Date.now() + Number(ms)
for (let n = 1; n === 1 || Date.now() < until; ) {
  try {
    n = mode === "lease" ? await appendUnderLease(n) : await append(n, 1)
  } catch (error) {
    if (!isKeepupError(error)) throw error
    if (mode !== "lease" || error.code !== "SESSION_RUNNING") {
      say({ failed: { code: error.code, message: error.message } } satisfies Failed)
    }
    await pause()
  }
}
await store.close()

async function append(n: number, count: number, options = {}): Promise<number> {
  // a lost answer does not make it twice: the same entries at the same place are accepted
  const at = mode === "own" ? { at: n + 1 } : {}
  const drafts = Array.from({ length: count }, (_, more) => draft(n + more))
  const entries = await store.log.append(sessionId, drafts, { ...at, ...options })
  for (const [more, { seq }] of entries.entries()) {
    say({ appended: { sessionId, seq, n: n + more } } satisfies Appended)
  }
  return n + count
}

async function appendUnderLease(n: number): Promise<number> {
  const lease = await store.leases.take(`session:${sessionId}`, { purpose: `appending ${process.pid}` })
  try {
    return await append(await append(n, 1, { lease }), 2, { lease })
  } finally {
    await lease.release()
    await pause()
  }
}

function draft(n: number) {
  return { type: "test:counted", data: { pid: process.pid, n, text: "x".repeat(500) } }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 5))
}
