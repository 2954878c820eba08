/**
 * Saves now and then while something changed, and on the way out. Stops cleanly: the save under way is finished, timers
 * and signal handlers are gone, and only then is the store closed.
 */
import { type EventBus, toKeepupError } from "@ku0/agent-runtime-core"
import type { CheckpointService } from "./checkpoint-service.js"

/** The part of `process` that signals come from. */
export interface SignalSource {
  on(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown
  off(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown
}

export interface AutoSaveOptions {
  readonly service: CheckpointService
  readonly eventBus: EventBus
  /** How often to look whether something changed. 30 s unless told. */
  readonly intervalMs?: number
  /** Where to hear SIGINT and SIGTERM; none are heard if not given. */
  readonly signals?: SignalSource
  /** The last thing done on a signal, when the session is paused: close the store, then leave. */
  readonly onExit?: (signal: "SIGINT" | "SIGTERM") => void | Promise<void>
  /** Told when the session could not be paused on a signal. Must not throw. */
  readonly onWarning?: (message: string) => void
}

export const defaultIntervalMs = 30_000

export class AutoSaveMiddleware {
  readonly #options: AutoSaveOptions
  #timer: NodeJS.Timeout | undefined
  #saving: Promise<unknown> = Promise.resolve()
  #savesUnderWay = 0
  #exiting: Promise<void> | undefined
  #pendingChanges = 0
  readonly #onInterrupt = () => void this.#exit("SIGINT")
  readonly #onTerminate = () => void this.#exit("SIGTERM")

  constructor(options: AutoSaveOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => void this.#saveIfChanged(), this.#options.intervalMs ?? defaultIntervalMs)
    this.#timer.unref()
    this.#options.signals?.on("SIGINT", this.#onInterrupt)
    this.#options.signals?.on("SIGTERM", this.#onTerminate)
  }

  get isActive(): boolean {
    return this.#timer !== undefined
  }

  /** Changes told of since the last save. Entries in the log and changed files count without being told. */
  get pendingChanges(): number {
    return this.#pendingChanges
  }

  trackChange(): void {
    this.#pendingChanges++
  }

  /** Saves now, changed or not. Throws if that fails. */
  async forceSave(): Promise<void> {
    await this.#save("interval", true)
  }

  /** Saves what changed, then leaves nothing behind: no timer, no handler, no save under way. Safe to call twice. */
  async stop(): Promise<void> {
    const wasActive = this.isActive
    this.#detach()
    await this.#exiting?.catch(() => undefined)
    await this.#saving.catch(() => undefined)
    if (wasActive && this.#exiting === undefined) await this.#save("exit", false)
  }

  #detach(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#options.signals?.off("SIGINT", this.#onInterrupt)
    this.#options.signals?.off("SIGTERM", this.#onTerminate)
  }

  /** Left out while a save is under way: the next beat sees what changed meanwhile. */
  async #saveIfChanged(): Promise<void> {
    if (this.#savesUnderWay > 0) return
    await this.#save("interval", this.#pendingChanges > 0).catch(() => undefined) // the service has told the user
  }

  /** One after the other. What changes while a save is under way is counted for the next one. */
  async #save(trigger: "interval" | "exit", allowEmpty: boolean): Promise<void> {
    this.#savesUnderWay++
    const saved = this.#saving
      .catch(() => undefined)
      .then(async () => {
        const covered = this.#pendingChanges
        await this.#options.service.take(trigger, { allowEmpty })
        this.#pendingChanges -= covered
      })
      .finally(() => this.#savesUnderWay--)
    this.#saving = saved
    await saved
  }

  /** One way out, however often the signal comes: checkpoint, paused, then the caller's last step. */
  #exit(signal: "SIGINT" | "SIGTERM"): Promise<void> {
    this.#exiting ??= this.#leave(signal)
    return this.#exiting
  }

  async #leave(signal: "SIGINT" | "SIGTERM"): Promise<void> {
    const { eventBus, onExit, onWarning } = this.#options
    clearInterval(this.#timer)
    try {
      await this.#save("exit", true).catch(() => undefined) // told; the session is paused all the same
      await eventBus.emit("session:paused", { reason: signal })
      await eventBus.flush()
    } catch (error) {
      onWarning?.(`The session could not be paused: ${toKeepupError(error).message}`)
    } finally {
      this.#detach()
      await onExit?.(signal)
    }
  }
}
