/**
 * Turns events into checkpoints. An event that asks for one gets it before the emitter goes on; events that were in the
 * log before a checkpoint was taken are covered by it, so a burst costs one. A take that fails is an event, a warning
 * and a line in the session's log, never silence.
 */
import {
  type BusEvent,
  type Checkpoint,
  type CheckpointTrigger,
  type Entry,
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
import { entryOf } from "./checkpoint-store.js"

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

/** Retention costs a transaction of its own, so it is not paid at every step: after so many checkpoints, and at the stop. */
const pruneEvery = 8

/** What a checkpoint itself leads to; it never asks for another one. */
const ownEvents: ReadonlySet<string> = new Set(["checkpoint:created", "checkpoint:failed", "checkpoint:pruned"])

export class CheckpointService {
  readonly #options: CheckpointServiceOptions
  readonly #policy: CheckpointPolicy
  #stopListening: (() => void) | undefined
  #queue: Promise<unknown> = Promise.resolve()
  /** Entries up to here were in the log before a checkpoint's files were captured. 0 until the first one is taken. */
  #coveredSeq = 0
  /** The newest entry that was heard and asked for one. */
  #heardSeq = 0
  /** Where the log stood when listening began. */
  #listensSince: Promise<number> | undefined
  /** Checkpoints taken since retention was last applied. */
  #unpruned = 0

  constructor(options: CheckpointServiceOptions) {
    this.#options = options
    this.#policy = options.policy ?? createCheckpointPolicy()
  }

  start(): void {
    if (this.#stopListening !== undefined) return
    let isListening = true
    const { eventBus, store, sessionId } = this.#options
    this.#listensSince = store.log.head(sessionId).then(({ seq }) => seq)
    this.#listensSince.catch(() => undefined) // whoever needs it hears why it failed
    const leave = eventBus.on("*", (event) => (isListening ? this.#hear(event) : undefined))
    this.#stopListening = () => {
      isListening = false // the bus still delivers what it had recorded
      leave()
    }
  }

  /** Stops listening and waits for a checkpoint under way. What is in the log by then and asked for one has got it. */
  async stop(): Promise<void> {
    const wasListening = this.#stopListening !== undefined
    this.#stopListening?.()
    this.#stopListening = undefined
    await this.#idle()
    const unheard = wasListening ? await this.#newestTrigger(await this.#settledSeq()) : undefined
    if (unheard !== undefined) await this.take(unheard).catch(() => undefined) // told by #take
    if (this.#unpruned > 0) await this.#enqueue(() => this.#prune())
  }

  /** Whatever up to here asked for a checkpoint was heard; what came before listening began is nothing to us. */
  async #settledSeq(): Promise<number> {
    return Math.max(this.#coveredSeq || this.#heardSeq, (await this.#listensSince) ?? 0)
  }

  async #idle(): Promise<void> {
    for (let last: Promise<unknown> | undefined; last !== this.#queue; await last) last = this.#queue
  }

  /** Takes one now. Throws what went wrong, after telling it like any other failure. */
  async take(trigger: CheckpointTrigger, more: Partial<TakeCheckpointOptions> = {}): Promise<Checkpoint | undefined> {
    return await this.#enqueue(() => this.#take(trigger, more))
  }

  async #enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#queue.then(work)
    this.#queue = done.catch(() => undefined)
    return await done
  }

  async createManualCheckpoint(name?: string): Promise<Checkpoint> {
    return (await this.take("manual", name === undefined ? {} : { name })) as Checkpoint
  }

  async #hear(event: BusEvent): Promise<void> {
    const trigger = ownEvents.has(event.type) ? undefined : this.#policy.triggerOf(event.type, event.data)
    if (trigger === undefined) return
    this.#heardSeq = Math.max(this.#heardSeq, event.entry?.seq ?? 0)
    await this.#enqueue(async () => {
      const { entry } = event
      if (entry !== undefined && entry.seq <= this.#coveredSeq) return undefined
      return await this.#take(trigger, {}, entry?.seq)
    }).catch(() => undefined) // told by #take; the emitter's work goes on
  }

  /** Of all entries behind `after` that ask for a checkpoint, the last one gives its name. */
  async #newestTrigger(after: number, before = Number.MAX_SAFE_INTEGER): Promise<CheckpointTrigger | undefined> {
    if (before <= after + 1) return undefined
    const { store, sessionId } = this.#options
    const { events: types } = this.#policy
    const later = await store.log.read(sessionId, { after, before, ...(types && { types }) })
    return later
      .filter(({ type }) => !ownEvents.has(type))
      .map(({ type, data }) => this.#policy.triggerOf(type, data))
      .findLast((trigger) => trigger !== undefined)
  }

  /** `askedAt`: the entry that asks for it. A later one that asks for one too gives the checkpoint its name. */
  async #take(
    asked: CheckpointTrigger,
    more: Partial<TakeCheckpointOptions>,
    askedAt?: number,
  ): Promise<Checkpoint | undefined> {
    const { manager, store, sessionId, lease, getState } = this.#options
    let trigger = asked
    try {
      const session = await store.sessions.get(sessionId)
      const { headSeq } = session // what comes while the files are captured is not covered
      if (askedAt !== undefined) trigger = (await this.#newestTrigger(askedAt, headSeq + 1)) ?? asked
      const state = await getState?.()
      const request = { sessionId, session, trigger, ...(state && { state }), ...(lease && { lease }), ...more }
      const checkpoint = await manager.take(request)
      this.#coveredSeq = headSeq
      if (checkpoint === undefined) return undefined
      this.#announce([entryOf(checkpoint)])
      if (++this.#unpruned >= pruneEvery) await this.#prune()
      return checkpoint
    } catch (error) {
      await this.#tellFailure(trigger, toKeepupError(error))
      throw error
    }
  }

  /** Retention. The checkpoint stands, whatever becomes of this. */
  async #prune(): Promise<void> {
    const { manager, store, sessionId, lease, onWarning } = this.#options
    this.#unpruned = 0
    try {
      const { removed } = await manager.prune(sessionId, undefined, lease)
      if (removed.length === 0) return
      const { seq } = await store.log.head(sessionId)
      this.#announce(await store.log.read(sessionId, { after: seq - 1, limit: 1 }))
    } catch (error) {
      const message = `Old checkpoints could not be removed: ${toKeepupError(error).message}`
      onWarning?.(message)
      await store.sessions.addLog(sessionId, "warn", message).catch(() => undefined) // the screen has it
    }
  }

  #announce(entries: readonly Entry[]): void {
    // not awaited: we may be inside a listener of the bus that this event has to pass
    this.#options.eventBus.announce(entries).catch((error) => this.#options.onWarning?.(toKeepupError(error).message))
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
