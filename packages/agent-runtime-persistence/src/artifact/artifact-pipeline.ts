/**
 * From an agent's hand to the store, the log and the task graph. The artifact is on disk before anyone hears of it.
 * Each artifact is announced once by a pipeline; after a crash in between, emitting it again announces it again, so
 * whoever listens may hear of one artifact twice, and never of none.
 */
import { type Artifact, type KeepupError, type SessionId, toKeepupError } from "@ku0/agent-runtime-core"
import type { StoreArtifactOptions, StoreArtifactResult } from "./artifact-registry.js"

/** The part of a registry the pipeline needs. */
export interface ArtifactKeeper {
  store(envelope: unknown, options?: StoreArtifactOptions): Promise<StoreArtifactResult>
}

/** The part of an event bus the pipeline needs. If it throws, `emit` throws; the artifact stays kept. */
export interface ArtifactEventBus {
  emit(type: string, data: unknown): unknown
}

export interface ArtifactEmittedRecord {
  readonly type: "artifact_emitted"
  readonly artifactId: string
  readonly artifactType: string
  readonly title: string
  /** The task the artifact belongs to. */
  readonly taskNodeId: string | null
  readonly correlationId?: string
  readonly source?: string
}

/** The part of a task graph the pipeline needs. */
export interface ArtifactTaskGraph {
  /** Adds the artifact under its task and returns the id of the node. A failure is reported and stops nothing. */
  recordArtifact(record: ArtifactEmittedRecord): string | Promise<string>
}

export interface CreateArtifactPipelineOptions {
  readonly registry: ArtifactKeeper
  readonly taskGraph?: ArtifactTaskGraph
  readonly eventBus?: ArtifactEventBus
  /** Who emits, unless a call says otherwise. */
  readonly eventSource?: string
  /** The session the artifacts belong to. */
  readonly sessionId?: SessionId
  /** Told of every failure of the task graph, which the result carries too. What it throws is ignored. */
  readonly onError?: (error: KeepupError, artifact: Artifact) => void
}

export interface AnnounceArtifactOptions {
  readonly correlationId?: string
  readonly source?: string
}

export interface EmitArtifactOptions extends AnnounceArtifactOptions {
  /** The same key again in the same session keeps nothing new and gives back the first artifact. */
  readonly idempotencyKey?: string
}

export interface AnnounceArtifactResult {
  readonly artifactNodeId?: string
  /** Why the task graph does not know of it. */
  readonly taskGraphError?: KeepupError
}

export interface EmitArtifactResult extends AnnounceArtifactResult {
  /** Always true: what can't be kept is thrown. A quarantined artifact is kept too. */
  readonly stored: boolean
  readonly valid: boolean
  /** Why it is quarantined. */
  readonly errors?: readonly string[]
  readonly artifact: Artifact
}

/** So many announcements are remembered; an older artifact that is emitted again is announced again. */
const mostRemembered = 1_000

export class ArtifactPipeline {
  readonly #options: CreateArtifactPipelineOptions
  readonly #announced = new Map<string, Promise<AnnounceArtifactResult>>()

  constructor(options: CreateArtifactPipelineOptions) {
    this.#options = { ...options }
  }

  /** Keeps an artifact and tells of it. Facts that can't be kept are `INVALID_INPUT`; a bad payload is quarantined. */
  async emit(envelope: unknown, options: EmitArtifactOptions = {}): Promise<EmitArtifactResult> {
    const { sessionId, registry } = this.#options
    const { artifact, valid, errors } = await registry.store(envelope, {
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(options.idempotencyKey === undefined ? {} : { idempotencyKey: options.idempotencyKey }),
    })
    const announced = await this.announce(artifact, options)
    return { stored: true, valid, ...(errors === undefined ? {} : { errors }), ...announced, artifact }
  }

  /** Tells of an artifact that is kept already, once. */
  announce(artifact: Artifact, options: AnnounceArtifactOptions = {}): Promise<AnnounceArtifactResult> {
    const known = this.#announced.get(artifact.id)
    if (known !== undefined) return known
    const announcing = this.#tell(artifact, options)
    this.#remember(artifact.id, announcing)
    return announcing
  }

  async #tell(artifact: Artifact, options: AnnounceArtifactOptions): Promise<AnnounceArtifactResult> {
    const { correlationId, source = this.#options.eventSource } = options
    const context = {
      ...(correlationId === undefined ? {} : { correlationId }),
      ...(source === undefined ? {} : { source }),
    }
    const { id: artifactId, type, title, taskNodeId, hash, sizeBytes, quarantine } = artifact
    const data = { artifactId, type, title, taskNodeId, hash, sizeBytes, ...context }
    if (quarantine !== null) {
      await this.#options.eventBus?.emit("artifact:quarantined", { ...data, errors: quarantine })
      return {}
    }
    await this.#options.eventBus?.emit("artifact:emitted", data)
    return this.#record(artifact, {
      type: "artifact_emitted",
      artifactId,
      artifactType: type,
      title,
      taskNodeId,
      ...context,
    })
  }

  async #record(artifact: Artifact, record: ArtifactEmittedRecord): Promise<AnnounceArtifactResult> {
    const { taskGraph } = this.#options
    if (taskGraph === undefined) return {}
    try {
      return { artifactNodeId: await taskGraph.recordArtifact(record) }
    } catch (error) {
      const taskGraphError = toKeepupError(error)
      this.#report(taskGraphError, artifact)
      return { taskGraphError }
    }
  }

  #report(error: KeepupError, artifact: Artifact): void {
    try {
      this.#options.onError?.(error, artifact)
    } catch {
      // The result carries the failure as well; a reporter that fails must not make a kept artifact look lost.
    }
  }

  #remember(id: string, announcing: Promise<AnnounceArtifactResult>): void {
    this.#announced.set(id, announcing)
    announcing.catch(() => this.#announced.delete(id))
    const [oldest] = this.#announced.keys()
    if (this.#announced.size > mostRemembered && oldest !== undefined) this.#announced.delete(oldest)
  }
}

export function createArtifactPipeline(options: CreateArtifactPipelineOptions): ArtifactPipeline {
  return new ArtifactPipeline(options)
}
