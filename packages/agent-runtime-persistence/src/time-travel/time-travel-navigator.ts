/** One door to going back and forth: look at a checkpoint, compare states, replay, branch. Thin over the functions beside it. */
import type { Checkpoint, CheckpointId, Entry, Session } from "@ku0/agent-runtime-core"
import { diffState, type StateChange } from "./diff-state.js"
import { refOf } from "./look.js"
import { isInHistory, type ReplayOptions, replayHistory } from "./replay.js"
import { rewindToCheckpoint } from "./rewind.js"
import type { TimeTravelContext } from "./time-travel-context.js"

export type NavigationAction =
  | { readonly type: "forward" | "backward"; readonly targetId: CheckpointId }
  | { readonly type: "branch"; readonly fromId: CheckpointId }
  | { readonly type: "replay"; readonly fromId: CheckpointId; readonly toId: CheckpointId }

export interface NavigationResult {
  readonly checkpoint: Checkpoint
  readonly state: Record<string, unknown>
  /** What changed in the state since the checkpoint before, if there is one. */
  readonly diff: readonly StateChange[]
  readonly availableActions: readonly NavigationAction[]
}

export class TimeTravelNavigator {
  readonly #context: TimeTravelContext

  constructor(context: TimeTravelContext) {
    this.#context = context
  }

  /** Looks at a checkpoint; nothing is changed. */
  async navigateTo(id: CheckpointId): Promise<NavigationResult> {
    const { store } = this.#context
    const checkpoint = await store.checkpoints.get(id)
    const [previous] = await store.checkpoints.list(checkpoint.sessionId, { before: checkpoint.number, limit: 1 })
    const next = await this.#findNext(checkpoint)
    const [latest] = await store.checkpoints.list(checkpoint.sessionId, { limit: 1 })
    const actions: NavigationAction[] = [{ type: "branch", fromId: id }]
    if (previous) actions.unshift({ type: "backward", targetId: previous.id })
    if (next) actions.unshift({ type: "forward", targetId: next.id })
    if (latest && latest.id !== id && (await isInHistory(store, refOf(checkpoint), refOf(latest)))) {
      actions.push({ type: "replay", fromId: id, toId: latest.id })
    }
    return {
      checkpoint,
      state: await store.state.get(refOf(checkpoint)),
      diff: previous === undefined ? [] : await this.#diff(previous, checkpoint),
      availableActions: actions,
    }
  }

  /** What changed in the state from one checkpoint to another, of any sessions. */
  async getDiff(fromId: CheckpointId, toId: CheckpointId): Promise<StateChange[]> {
    const { checkpoints } = this.#context.store
    return await this.#diff(await checkpoints.get(fromId), await checkpoints.get(toId))
  }

  /** The recorded entries from one checkpoint to another. */
  async *replay(
    fromId: CheckpointId,
    toId?: CheckpointId,
    options: Omit<ReplayOptions, "from" | "to"> = {},
  ): AsyncGenerator<Entry> {
    const { checkpoints } = this.#context.store
    const from = await checkpoints.get(fromId)
    const to = toId === undefined ? undefined : await checkpoints.get(toId)
    yield* replayHistory(this.#context.store, { ...options, from, ...(to && { to }) })
  }

  /** A new session that goes on from the checkpoint; the files are left alone. */
  async branch(fromId: CheckpointId, name?: string): Promise<Session> {
    const checkpoint = await this.#context.store.checkpoints.get(fromId)
    const options = { checkpoint, mode: "conversation" as const, ...(name !== undefined && { name }) }
    return (await rewindToCheckpoint(this.#context, options)).session
  }

  async #diff(from: Checkpoint, to: Checkpoint): Promise<StateChange[]> {
    const { state } = this.#context.store
    return diffState({ ...(await state.get(refOf(from))) }, { ...(await state.get(refOf(to))) })
  }

  async #findNext({ sessionId, number }: Checkpoint): Promise<Checkpoint | undefined> {
    const { driver } = this.#context.store.context
    const row = await driver.get(
      "SELECT MIN(number) AS number FROM session_checkpoints WHERE session_id = ? AND number > ?",
      [sessionId, number],
    )
    if (row === undefined || row["number"] === null) return undefined
    return await this.#context.store.checkpoints.resolve(sessionId, `#${row["number"]}`)
  }
}
