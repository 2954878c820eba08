/** Everything a store says, as one value: the same in every process that reads the same store. */
import type { Checkpoint, Session } from "@ku0/agent-runtime-core"
import type { Store } from "../../src/store/open-store.js"
import { type EntryFacts, factsOf, hashOf } from "./programs/said.js"

export interface SessionDescription {
  readonly session: Session
  readonly entries: readonly EntryFacts[]
  /** Hashes of the folded messages, and the rest of the fold. */
  readonly fold: Record<string, unknown> & { readonly messages: readonly string[]; readonly phase: string }
  readonly state: Record<string, unknown>
  readonly checkpoints: readonly Checkpoint[]
  readonly logs: readonly string[]
}

export interface StoreDescription {
  readonly sessions: readonly SessionDescription[]
  readonly artifacts: readonly { id: string; hash: string; contentHash: string }[]
}

export async function describeStore(store: Store): Promise<StoreDescription> {
  const sessions: SessionDescription[] = []
  for (const session of await store.sessions.list({ limit: 1_000 }))
    sessions.push(await describeSession(store, session))
  const artifacts: { id: string; hash: string; contentHash: string }[] = []
  for (const { id, hash } of await store.artifacts.list({ limit: 1_000 })) {
    artifacts.push({ id, hash, contentHash: hashOf(await store.artifacts.read(id)) })
  }
  return { sessions, artifacts }
}

async function describeSession(store: Store, session: Session): Promise<SessionDescription> {
  const head = await store.log.head(session.id)
  const fold = await store.log.fold(head)
  const entries: EntryFacts[] = []
  for (let page = await store.log.read(session.id); page.length > 0; ) {
    entries.push(...page.map(factsOf))
    page = await store.log.read(session.id, { after: (page.at(-1) as { seq: number }).seq })
  }
  return {
    session,
    entries,
    fold: { ...fold, messages: fold.messages.map((message) => hashOf(JSON.stringify(message))) },
    state: await store.state.get(head),
    checkpoints: await store.checkpoints.list(session.id, { limit: 1_000 }),
    logs: (await store.sessions.listLogs(session.id, { limit: 1_000 })).map(({ message }) => message),
  }
}
