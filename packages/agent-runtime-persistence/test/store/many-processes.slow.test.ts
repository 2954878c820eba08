/** Eight processes on one store, all at once: nothing acknowledged is lost, nobody is told to go away, all get on. */
import { fileURLToPath } from "node:url"
import type { SessionId } from "@ku0/agent-runtime-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { openStore, type Store } from "../../src/store/open-store.js"
import { startPostgres } from "../../src/testing/start-postgres.js"
import { bundleProgram, startProgram } from "../../src/testing/start-program.js"
import { createTemporaryFolder, type TemporaryFolder } from "../../src/testing/temporary-folder.js"
import type { Appended, Failed } from "./programs/append-many.js"

const ms = 8_000

let folder: TemporaryFolder
let appendMany: string

beforeAll(async () => {
  folder = createTemporaryFolder()
  appendMany = await bundleProgram(fileURLToPath(new URL("programs/append-many.ts", import.meta.url)))
})

afterAll(() => folder.remove())

it("lets eight processes make and open the same file at the same moment", async () => {
  for (let round = 0; round < 5; round++) {
    const url = `sqlite:${folder.file(`open-${round}`, "keepup.db")}`
    const programs = Array.from({ length: 8 }, () => startProgram(appendMany, [url, "own", "", "1"]))
    for (const program of programs) expect(await program.ended, program.errors()).toEqual({ code: 0, signal: null })
  }
})

it("loses nothing of eight processes on one SQLite file", async () => {
  await appendTogether(`sqlite:${folder.file("keepup.db")}`)
})

it("loses nothing of eight processes on one PostgreSQL server", async () => {
  const server = await startPostgres()
  try {
    await appendTogether(await server.createDatabase())
  } finally {
    await server.stop()
  }
})

async function appendTogether(url: string): Promise<void> {
  const store = await openStore(url)
  try {
    const shared = (await store.sessions.create({ workspacePath: "/w" })).id
    const leased = (await store.sessions.create({ workspacePath: "/w" })).id
    const programs = [
      ...["", "", ""].map(() => ["own", ""]),
      ...["", "", ""].map(() => ["shared", shared]),
      ...["", ""].map(() => ["lease", leased]),
    ].map((args) => startProgram(appendMany, [url, ...args, String(ms)]))
    for (const program of programs) expect(await program.ended, program.errors()).toEqual({ code: 0, signal: null })

    const said = programs.map((program) => program.said as (Appended | Failed)[])
    expect(said.flat().filter((line) => "failed" in line)).toEqual([])
    const perProgram = said.map((lines) => lines.filter((line): line is Appended => "appended" in line))
    for (const lines of perProgram) expect(lines.length, String(perProgram.map((all) => all.length))).toBeGreaterThan(0)

    const promised = new Map<string, Map<number, { pid: number; n: number }>>()
    for (const [index, lines] of perProgram.entries()) {
      for (const { sessionId, seq, n } of lines.map(({ appended }) => appended)) {
        const ofSession = promised.get(sessionId) ?? new Map()
        expect(ofSession.has(seq), "a place given to two").toBe(false)
        promised.set(sessionId, ofSession.set(seq, { pid: programs[index]?.pid as number, n }))
      }
    }
    for (const [sessionId, entries] of promised) await checkSession(store, sessionId as SessionId, entries)
  } finally {
    await store.close()
  }
}

async function checkSession(store: Store, sessionId: SessionId, promised: Map<number, object>): Promise<void> {
  const head = await store.log.head(sessionId)
  expect(head.seq, "the first entry, and one for each promise").toBe(1 + promised.size)
  let seq = 0
  for await (const entry of store.log.history(head)) {
    expect(entry.seq).toBe(++seq)
    if (seq > 1) expect(entry.data).toMatchObject(promised.get(seq) as object)
  }
  expect(seq).toBe(head.seq)
}
