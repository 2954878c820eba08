import { type Entry, foldHistory, type SessionId } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openStore, type Store } from "../store/open-store.js"

let store: Store
let sessionId: SessionId

beforeEach(async () => {
  store = await openStore("memory:")
  sessionId = (await store.sessions.create({ workspacePath: "/w", name: "long" })).id
  for (let turn = 1; turn <= 150; turn++) {
    const call = { callId: `call-${turn}`, name: "read", arguments: { odd: "a,b]\"'\u2028\n\u0000" } }
    const content = turn === 70 ? "x".repeat(1_200_000) : `turn ${turn}`
    await store.log.append(
      sessionId,
      [
        { type: "turn:started", data: { turn } },
        { type: "message:added", data: { message: { role: "user", content } } },
        { type: "tool:started", data: call },
        ...(turn % 50 === 0 ? [] : [{ type: "tool:ended", data: { ...call, outcome: "ok" } }]),
      ],
      turn % 7 === 0 ? { state: { turn, same: true } } : {},
    )
  }
})
afterEach(() => store.close())

const readAll = () => store.log.read(sessionId, { limit: 10_000 })
const fold = async () => await store.log.fold(await store.log.head(sessionId))

async function readHistory(): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of store.log.history(await store.log.head(sessionId))) entries.push(entry)
  return entries
}

async function damage(seq: number, data: string): Promise<void> {
  await store.context.driver.run("UPDATE entries SET data = ? WHERE session_id = ? AND seq = ?", [data, sessionId, seq])
}

describe("a history of several pages", () => {
  it("is what its rows are, with odd characters and an entry too large for its row", async () => {
    expect(await readHistory()).toEqual(await readAll())
  })

  it("folds to what its rows fold to, with state and open calls", async () => {
    const state = await fold()
    expect(state).toEqual(foldHistory(await readAll()))
    expect(state.openToolCalls.map(({ id }) => id)).toEqual(["call-50", "call-100", "call-150"])
    expect(Object.keys(state.stateKeys)).toEqual(["turn", "same"])
  })

  it.each(["{", '{"callId":"a"},{"callId":"b"}', ""])("names the entry whose data is damaged: %j", async (data) => {
    const { seq } = (await readAll()).find(({ type, seq }) => seq > 400 && type === "tool:started") as Entry
    await damage(seq, data)
    const refusal = { code: "CORRUPT", message: expect.stringContaining(`entry ${seq} of session`) }
    await expect(fold()).rejects.toMatchObject(refusal)
    await expect(readHistory()).rejects.toMatchObject(refusal)
  })
})
