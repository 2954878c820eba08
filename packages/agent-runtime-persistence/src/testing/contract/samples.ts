/** Small things the contract's tests share. */
import type { EntryDraft, ErrorCode, Message, Session } from "@ku0/agent-runtime-core"
import { expect } from "vitest"
import { appendEntries, lockSession } from "../../session/append-entries.js"
import type { Store } from "../../store/open-store.js"

export function user(content: string): EntryDraft {
  return said({ role: "user", content })
}

export function said(message: Message): EntryDraft {
  return { type: "message:added", data: { message } }
}

/** Appends what only the store writes, as the store does it. */
export async function appendOwn(
  store: Store,
  { id }: Pick<Session, "id">,
  drafts: readonly EntryDraft[],
): Promise<void> {
  const { context } = store
  await context.driver.transaction("own", async (tx) => {
    await appendEntries(context, tx, await lockSession(context, tx, id), drafts, {})
  })
}

export async function createSession(store: Store, name = "sample"): Promise<Session> {
  return await store.sessions.create({
    workspacePath: "/workspace",
    name,
    agentType: "keepup",
    taskDescription: "a task",
  })
}

/** Expects a KeepupError with this code, whose message and hint are for people. */
export async function expectCode(work: Promise<unknown>, code: ErrorCode, message?: RegExp): Promise<void> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error, `expected ${code}`).toMatchObject({ code })
  if (message !== undefined) expect((error as Error).message).toMatch(message)
}

/** A clock that stands where it is put. */
export function createClock(now = 1_700_000_000_000): {
  now(): number
  set(time: number): void
  add(ms: number): void
} {
  let time = now
  return {
    now: () => time,
    set: (next) => {
      time = next
    },
    add: (ms) => {
      time += ms
    },
  }
}
