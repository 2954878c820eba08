/**
 * Turns events into checkpoints. An event that asks for one gets it before the emitter goes on; events that were in the
 * log before a checkpoint was taken are covered by it, so a burst costs one. A take that fails is an event, a warning
 * and a line in the session's log, never silence.
 */
import {
  type BusEvent,
  type Checkpoint,
  type CheckpointTrigger,
  type EventBus,
  errorToJson,
  type KeepupError,
  type Lease,
  type SessionId,
  toKeepupError,
} from "@ku0/agent-runtime-core"
import type { Store } from "../store/open-store.js"
import type { CheckpointManager, TakeCheckpointOptions } from "./checkpoint-manager.js"
import { type CheckpointPolicy, createCheckpointPolicy } from "./checkpoint-policy.js"

export interface CheckpointServiceOptions {
  readonly eventBus: EventBus
  readonly manager: CheckpointManager
  readonly store: Store
  readonly sessionId: SessionId
  readonly policy?: CheckpointPolicy
  readonly lease?: Lease
  /** What the agent wants to have kept with the checkpoint. May throw: then the checkpoint fails, visibly. */
  readonly getState?: () => Record<string, unknown> | Promise<Record<string, unknown>>
  /** Shows a failure to the user. Must not throw. */
  readonly onWarning?: (message: string) => void
}

export class CheckpointService {
  readonly #options: CheckpointServiceOptions
  readonly #policy: CheckpointPolicy
  #stopListening: (() => void) | undefined
  #queue: Promise<unknown> = Promise.resolve()
  /** Entries up to here are in a checkpoint. */
  #coveredSeq = 0

  constructor(options: CheckpointServiceOptions) {
    this.#options = options
    this.#policy = options.policy ?? createCheckpointPolicy()
  }

  start(): void {
    this.#stopListening ??= this.#options.eventBus.on("*", (event) => this.#hear(event))
  }

  /** Stops listening and waits for a checkpoint under way. */
  async stop(): Promise<void> {
    this.#stopListening?.()
    this.#stopListening = undefined
    await this.#queue
  }

  /** Takes one now. Throws what went wrong, after telling it like any other failure. */
  async take(trigger: CheckpointTrigger, more: Partial<TakeCheckpointOptions> = {}): Promise<Checkpoint | undefined> {
    const taken = this.#queue.then(() => this.#take(trigger, more))
    this.#queue = taken.catch(() => undefined)
    return await taken
  }

  async createManualCheckpoint(name?: string): Promise<Checkpoint> {
    return (await this.take("manual", name === undefined ? {} : { name })) as Checkpoint
  }

  async #hear(event: BusEvent): Promise<void> {
    if (this.#policy.triggerOf(event.type, event.data) === undefined) return
    if (event.entry !== undefined && event.entry.seq <= this.#coveredSeq) return
    const trigger = await this.#newestTrigger(event)
    await this.take(trigger).catch(() => undefined) // told by #take; the emitter's work goes on
  }

  /** Of all that asked for a checkpoint by now, the last one gives its name. */
  async #newestTrigger(event: BusEvent): Promise<CheckpointTrigger> {
    const { store, sessionId } = this.#options
    const later = event.entry === undefined ? [] : await store.log.read(sessionId, { after: event.entry.seq })
    const triggers = [event, ...later].map(({ type, data }) => this.#policy.triggerOf(type, data))
    return triggers.findLast((trigger) => trigger !== undefined) as CheckpointTrigger
  }

  async #take(trigger: CheckpointTrigger, more: Partial<TakeCheckpointOptions>): Promise<Checkpoint | undefined> {
    const { manager, sessionId, lease, getState } = this.#options
    try {
      const state = await getState?.()
      const request = { sessionId, trigger, ...(state && { state }), ...(lease && { lease }), ...more }
      const checkpoint = await manager.take(request)
      if (checkpoint === undefined) return undefined
      this.#coveredSeq = checkpoint.entrySeq
      await this.#announce(checkpoint.entrySeq)
      const { removed } = await manager.prune(sessionId, undefined, lease)
      if (removed.length > 0) await this.#announce((await this.#options.store.log.head(sessionId)).seq)
      return checkpoint
    } catch (error) {
      await this.#tellFailure(trigger, toKeepupError(error))
      throw error
    }
  }

  async #announce(seq: number): Promise<void> {
    const { eventBus, store, sessionId } = this.#options
    const entries = await store.log.read(sessionId, { after: seq - 1, limit: 1 })
    this.#coveredSeq = Math.max(this.#coveredSeq, seq)
    // not awaited: we may be inside a listener of the bus that this event has to pass
    eventBus.announce(entries).catch((error) => this.#options.onWarning?.(toKeepupError(error).message))
  }

  /** Each way of telling is tried even if another fails: a full disk may leave only the screen. */
  async #tellFailure(trigger: CheckpointTrigger, error: KeepupError): Promise<void> {
    const { eventBus, store, sessionId, onWarning } = this.#options
    const message = `Checkpoint (${trigger}) failed: ${error.message}`
    onWarning?.(error.hint === undefined ? message : `${message} ${error.hint}`)
    const { code, message: text } = errorToJson(error)
    eventBus.emit("checkpoint:failed", { trigger, error: { code, message: text } }).catch((failure) => {
      onWarning?.(`The failure could not be put into the log either: ${toKeepupError(failure).message}`)
    })
    await store.sessions.addLog(sessionId, "error", message).catch((failure) => {
      onWarning?.(`The failure could not be written to session_logs either: ${toKeepupError(failure).message}`)
    })
  }
}
