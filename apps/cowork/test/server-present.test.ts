/** What the server says about where a session stands: its head after branches, restores and undo, and what was not kept. */
import type { Session } from "@ku0/agent-runtime"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openFixture, type ServerFixture } from "./server-fixture.js"

let fixture: ServerFixture
let session: Session
beforeEach(async () => {
  fixture = await openFixture()
  session = await fixture.createSession()
})
afterEach(() => fixture.close())

const post = async (path: string, body?: unknown) => {
  const answer = await fixture.ask(path, { method: "POST", ...(body !== undefined && { body }) })
  expect(answer.status, answer.text).toBe(200)
  return answer.json
}

const headOf = async (id: string) => {
  const { json } = await fixture.ask(`/api/sessions/${id}/graph`)
  return json.sessions.find((one: { id: string }) => one.id === id).headCheckpointId as string
}

describe("where a session stands", () => {
  it("is, for a fresh branch, the checkpoint it went back to: not the files from before", async () => {
    fixture.write("a.txt", "one\n")
    const first = await fixture.take(session)
    fixture.write("a.txt", "two\n")
    await fixture.say(session, "more")
    const second = await fixture.take(session)
    const { session: branch } = await post(`/api/sessions/${session.id}/checkpoints/${first.id}/restore`, {
      branch: "again",
    })
    expect(branch.checkpointCount, "what was there is kept in the branch").toBe(1)
    expect(await headOf(branch.id)).toBe(first.id)
    const { json } = await fixture.ask(`/api/compare?from=${session.id}&to=${branch.id}`)
    expect([json.from.checkpoint.id, json.to.checkpoint.id]).toEqual([second.id, first.id])

    fixture.write("b.txt", "new\n")
    const next = await fixture.take({ ...session, id: branch.id })
    expect(await headOf(branch.id)).toBe(next.id)
    const shown = await fixture.ask(`/api/sessions/${branch.id}/checkpoints/${next.id}`)
    expect(shown.json.parentId).toBe(first.id)
    const diff = await fixture.ask(`/api/sessions/${session.id}/checkpoints/${first.id}/diff?to=${next.id}`)
    expect(diff.json.files.map(({ path }: { path: string }) => path)).toEqual(["b.txt"])
  })

  it("follows a restore, and its undo to what was there before", async () => {
    fixture.write("a.txt", "one\n")
    const first = await fixture.take(session)
    fixture.write("a.txt", "two\n")
    const second = await fixture.take(session)
    fixture.write("a.txt", "never kept by hand\n")
    const { restore } = await post(`/api/sessions/${session.id}/checkpoints/${first.id}/restore`, {})
    expect(await headOf(session.id)).toBe(first.id)
    await post(`/api/restores/${restore.id}/undo`)
    expect(await headOf(session.id)).toBe(restore.safetyCheckpointId)
    const path = `/api/sessions/${session.id}/checkpoints/${second.id}/diff?to=${restore.safetyCheckpointId}`
    expect((await fixture.ask(path)).json.total, "the head holds the files as they are").toBe(1)
  })
})

describe("checkpoints that could not be taken", () => {
  it("are told until one could be taken again", async () => {
    const failed = async () => (await fixture.ask(`/api/sessions/${session.id}`)).json.failed
    expect(await failed()).toEqual([])
    const error = { code: "UNAVAILABLE", message: "No space left on the disk." }
    const draft = { type: "checkpoint:failed", data: { trigger: "turn.ended", error } }
    await fixture.runtime.store.log.append(session.id, [draft])
    expect(await failed()).toMatchObject([{ trigger: "turn.ended", message: "No space left on the disk." }])
    await fixture.take(session)
    expect(await failed()).toEqual([])
  })
})
