/** Checkpoints as a plain list per session: create, list, get, keep the newest. A thin view of the manager. */
import type { Checkpoint, CheckpointId, CheckpointTrigger, SessionId } from "@ku0/agent-runtime-core"
import type { Store } from "../store/open-store.js"
import type { CheckpointManager } from "./checkpoint-manager.js"

export interface CreateRepositoryCheckpoint {
  readonly sessionId: SessionId
  readonly trigger: CheckpointTrigger
  readonly name?: string
  readonly state?: Readonly<Record<string, unknown>>
}

export class CheckpointRepository {
  readonly #store: Store
  readonly #manager: CheckpointManager

  constructor(options: { readonly store: Store; readonly manager: CheckpointManager }) {
    this.#store = options.store
    this.#manager = options.manager
  }

  async create(options: CreateRepositoryCheckpoint): Promise<Checkpoint> {
    return (await this.#manager.take(options)) as Checkpoint
  }

  /** In the order they were taken. */
  async listForSession(sessionId: SessionId): Promise<Checkpoint[]> {
    const all: Checkpoint[] = []
    for (let page = await this.#store.checkpoints.list(sessionId, { limit: 500 }); page.length > 0; ) {
      all.push(...page)
      page = await this.#store.checkpoints.list(sessionId, { limit: 500, before: (page.at(-1) as Checkpoint).number })
    }
    return all.reverse()
  }

  async get(id: CheckpointId): Promise<Checkpoint | undefined> {
    return await this.#store.checkpoints.find(id)
  }

  /** Removes automatic checkpoints beyond the newest `keepCount` and says how many went. Protected ones always stay. */
  async pruneOldest(sessionId: SessionId, keepCount: number): Promise<number> {
    return (await this.#manager.prune(sessionId, { keep: keepCount })).removed.length
  }
}
