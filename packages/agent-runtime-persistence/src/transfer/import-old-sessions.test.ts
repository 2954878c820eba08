import { execFileSync } from "node:child_process"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { pairToolCalls } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openStore, type Store } from "../store/open-store.js"
import { expectCode } from "../testing/contract/samples.js"
import { createTemporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.js"
import { importOldSessions } from "./import-old-sessions.js"

let store: Store
let folder: TemporaryFolder
beforeEach(async () => {
  folder = createTemporaryFolder()
  store = await openStore("memory:")
})
afterEach(async () => {
  await store.close()
  folder.remove()
})

const importText = (text: string | Buffer) => {
  const path = folder.file("sessions.json")
  writeFileSync(path, text)
  return importOldSessions(store, { path, workspacePath: "/workspace" })
}

const old = [
  {
    id: "session-1",
    title: "Fix the parser",
    createdAt: 1_000,
    updatedAt: 9_000,
    messages: [
      { role: "user", content: "fix it", timestamp: 2_000 },
      { role: "assistant", content: "fixed", timestamp: 5_000 },
      { role: "system", content: "[Conversation Summary] done", timestamp: 4_000 },
    ],
    toolCalls: [
      {
        id: "t",
        name: "read",
        arguments: { path: "a" },
        status: "completed",
        startedAt: 3_000,
        result: { success: true, content: [{ type: "text", text: "content of a" }] },
      },
      { name: "write", arguments: {}, status: "failed", startedAt: 3_500, error: "disk full" },
      { name: "hang", arguments: {}, status: "started", startedAt: 3_600 },
    ],
    approvals: [{ id: "ap", kind: "tool", status: "approved", requestedAt: 3_400 }],
  },
  { id: "session-1", title: "", createdAt: "2024-01-01T00:00:00Z", updatedAt: null, messages: [] },
]

describe("an old sessions.json", () => {
  it("brings names of any length, of which the beginning is kept", async () => {
    const [session] = await importText(JSON.stringify([{ ...old[1], title: "n".repeat(2_000_000) }]))
    expect(session?.name).toBe("n".repeat(500))
  })

  it("becomes ended sessions with messages, paired calls and times, and is not changed", async () => {
    const text = JSON.stringify(old, null, 2)
    const sessions = await importText(`\uFEFF${text}`)
    expect(sessions).toMatchObject([
      { name: "Fix the parser", status: "completed", createdAt: 1_000, messageCount: 9, taskDescription: "fix it" },
      { name: "Imported session", status: "completed", createdAt: Date.UTC(2024, 0, 1), messageCount: 0 },
    ])
    expect(sessions[0]?.metadata).toEqual({
      imported: true,
      importedFrom: { format: "sessions.json", id: "session-1" },
    })
    const { messages } = await store.log.fold(await store.log.head(sessions[0]?.id as never))
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", "fix it"],
      ["assistant", ""],
      ["tool", "content of a"],
      ["assistant", ""],
      ["tool", "disk full"],
      ["assistant", ""],
      ["tool", "No result was recorded."],
      ["assistant", "fixed"],
      ["system", "[Conversation Summary] done"],
    ])
    expect(pairToolCalls(messages)).toEqual(messages)
    const entries = await store.log.read(sessions[0]?.id as never)
    expect(entries.map(({ createdAt }) => createdAt)).toEqual([
      1_000, 2_000, 3_000, 3_000, 3_400, 3_500, 3_500, 3_600, 3_600, 5_000, 5_000, 9_000,
    ])
    expect(readFileSync(folder.file("sessions.json"), "utf8")).toBe(`\uFEFF${text}`)
  })

  it("is refused whole when any part of it is not what it should be", async () => {
    const cases = ["", "{", "{}", "[1]", '[{"id":1,"messages":[]}]', '[{"id":"a"}]', `[${JSON.stringify(old[0])},{}]`]
    for (const part of ["messages", "toolCalls", "approvals"]) {
      for (const items of [[1, null, "x"], [...(old[0]?.messages ?? []), []], "none"]) {
        cases.push(JSON.stringify([{ ...old[0], [part]: items }]))
      }
    }
    for (const text of cases) await expectCode(importText(text), "INVALID_INPUT", /Nothing was imported/)
    await expectCode(importText("[".repeat(5_000)), "CORRUPT")
    await expectCode(importOldSessions(store, { path: folder.file("no"), workspacePath: "/w" }), "NOT_FOUND")
    await expectCode(importOldSessions(store, { path: folder.path, workspacePath: "/w" }), "INVALID_INPUT")
    execFileSync("mkfifo", [folder.file("pipe")]) // nobody writes into it
    await expectCode(importOldSessions(store, { path: folder.file("pipe"), workspacePath: "/w" }), "INVALID_INPUT")
    expect(await store.sessions.list()).toEqual([])
    const before = statSync(folder.file("sessions.json"))
    await expect(importText("[]")).resolves.toEqual([])
    expect(before.isFile()).toBe(true)
  })
})
