/** What outside agents put into the log: what was let in there comes in elsewhere too. */
import { join } from "node:path"
import type { KeepupError, Session } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, expect, it } from "vitest"
import { checkStore } from "../recovery/check-store.js"
import { said, user } from "../testing/contract/samples.js"
import { createTemporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { artifact, makeSession } from "../testing/transfer-sample.js"
import { rewindToCheckpoint } from "../time-travel/rewind.js"
import { exportSession } from "./export-session.js"
import { importSession } from "./import-session.js"

let from: TimeTravelFixture
let to: TimeTravelFixture
let folder: TemporaryFolder
let files = 0
beforeEach(async () => {
  folder = createTemporaryFolder()
  from = await openFixture()
  to = await openFixture()
})
afterEach(async () => {
  await from.close()
  await to.close()
  folder.remove()
})

async function travel({ id }: Pick<Session, "id">, options: { redact?: boolean } = {}): Promise<Session> {
  const path = folder.file(`${++files}.keepup`)
  await exportSession(from, { sessionId: id, path, ...options })
  const workFolder = join(to.stateDirectory, "work")
  return (await importSession(to, { path, workspacePath: to.workspace, workFolder })).session
}

it.each([{ redact: false }, { redact: true }])("events travel with whatever they carry: %j", async (options) => {
  const session = await from.createSession()
  const types = [
    ...["phase:ended", "task:completed", "turn:started", "turn:ended", "agent:spawned", "negotiation:resolved"],
    ...["artifact:emitted", "artifact:quarantined", "context:file-stale", "history:rewind", "someone:else"],
  ]
  const carried = [null, 7, "text", [], [1], {}, { taskId: 7, winner: { id: 1 }, usage: null, artifactId: null }]
  const drafts = types.flatMap((type) => carried.map((data) => ({ type, data })))
  await from.store.log.append(session.id, drafts)
  const copy = await travel(session, options)
  const entries = await to.store.log.read(copy.id, { after: 1 })
  expect(entries.map(({ type, data }) => ({ type, data }))).toEqual(drafts)
  expect(await checkStore(to), "what the doctor says").toEqual([])
  expect((await travel(session)).headSeq).toBe(drafts.length + 1)
})

it("messages an older keepup kept unchecked are exported; an import names the entry and the way out", async () => {
  const { session, two } = await makeSession(from)
  await from.store.log.append(session.id, [user("odd"), said({ role: "assistant", content: "after it" })])
  const message = { role: "user", content: [{ type: "text", text: "odd" }], artifactIds: 7 }
  await from.store.context.driver.run("UPDATE entries SET data = ? WHERE session_id = ? AND data LIKE '%odd%'", [
    JSON.stringify({ message }),
    session.id,
  ])
  const error: KeepupError = await travel(session).then(
    () => expect.fail("It came in."),
    (reason) => reason,
  )
  expect(error).toMatchObject({ code: "CORRUPT", hint: expect.stringContaining("rewind to a checkpoint before it") })
  expect(error.message).toMatch(
    /^Entry 8 of .* \(message:added\) can't be understood \(message\.content must be a text\)/,
  )
  const { session: branch } = await rewindToCheckpoint(from, { checkpoint: two, mode: "conversation" })
  expect((await travel(branch)).messageCount).toBe(3)
})

it("artifacts have ids that can travel, or are not kept", async () => {
  const session = await from.createSession()
  const put = (id: string, more = {}) =>
    from.store.artifacts.put({ ...artifact(id, session), ...more }, Buffer.from("content"))
  for (const id of ["", "a".repeat(1_001)]) {
    await expect(put(id)).rejects.toMatchObject({ code: "INVALID_INPUT", message: expect.stringMatching(/1,000/) })
  }
  for (const createdAt of [Number.NaN, 1.5, 8_640_000_000_000_001]) {
    await expect(put("early", { createdAt })).rejects.toMatchObject({ code: "INVALID_INPUT" })
  }
  await put("a".repeat(1_000))
  await travel(session)
  expect((await to.store.artifacts.list()).map(({ id }) => id.length)).toEqual([1_000])
})
