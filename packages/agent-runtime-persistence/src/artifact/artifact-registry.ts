/**
 * Keeps artifacts and knows their schemas. What fits its schema is an artifact; what does not, or has none, is kept
 * apart with the reasons: quarantined, never dropped. The schemas themselves are loaded when the first one is needed.
 */
import {
  type Artifact,
  type ArtifactId,
  type ArtifactStore,
  KeepupError,
  type SessionId,
} from "@ku0/agent-runtime-core"
import { isText, parseEnvelope } from "./parse-envelope.js"

/** What a registry asks of a schema; every zod schema has it. It must answer at once: no promises inside. */
export interface ArtifactSchema {
  safeParse(payload: unknown): {
    readonly success: boolean
    readonly error?: { readonly issues: readonly ArtifactSchemaIssue[] } | undefined
  }
}

export interface ArtifactSchemaIssue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

export interface CreateArtifactRegistryOptions {
  readonly store: ArtifactStore
  /** Whether the nine default types are known from the start. They are unless told. */
  readonly registerDefaults?: boolean
  /** Larger payloads are refused. 32 MiB unless told. */
  readonly maxPayloadBytes?: number
}

export interface ArtifactValidation {
  readonly valid: boolean
  /** Why it is not. */
  readonly errors?: readonly string[]
}

export interface StoreArtifactOptions {
  readonly sessionId?: SessionId
  /** The same key again in the same session gives back what was kept the first time. */
  readonly idempotencyKey?: string
}

export interface StoreArtifactResult extends ArtifactValidation {
  /** As it is kept; not the one handed in, if its key was used before. */
  readonly artifact: Artifact
}

export interface ArtifactWithPayload extends Artifact {
  /** `undefined` if the content is not JSON but, say, an image. */
  readonly payload: unknown
}

export interface ListArtifactsOptions {
  readonly sessionId?: SessionId
  readonly limit?: number
  readonly before?: string
}

const mostErrors = 20
const longestError = 500

export class ArtifactRegistry {
  readonly #store: ArtifactStore
  readonly #registerDefaults: boolean
  readonly #maxPayloadBytes: number
  readonly #schemas = new Map<string, ArtifactSchema>()

  constructor(options: CreateArtifactRegistryOptions) {
    this.#store = options.store
    this.#registerDefaults = options.registerDefaults ?? true
    this.#maxPayloadBytes = options.maxPayloadBytes ?? 32 * 1024 * 1024
  }

  /** Makes a version of a type known. It takes the place of a default one; a second one of our own is a `CONFLICT`. */
  registerSchema(type: string, version: string, schema: ArtifactSchema): void {
    const name = nameOf(type, version)
    if (this.#schemas.has(name)) throw new KeepupError("CONFLICT", `There is a schema for ${name} already.`)
    this.#schemas.set(name, schema)
  }

  /** Says whether a payload fits its schema. An envelope that could not even be kept is `INVALID_INPUT`. */
  async validate(envelope: unknown): Promise<ArtifactValidation> {
    const parsed = parseEnvelope(envelope, { maxPayloadBytes: this.#maxPayloadBytes })
    const errors = await this.#check(parsed.envelope.type, parsed.envelope.schemaVersion, parsed.payload)
    return verdict(errors)
  }

  /** Keeps an artifact, quarantined if its payload does not fit. When it returns, it is on disk. */
  async store(envelope: unknown, options: StoreArtifactOptions = {}): Promise<StoreArtifactResult> {
    const { idempotencyKey = null, sessionId = null } = options
    if (idempotencyKey !== null && (idempotencyKey === "" || !isText(idempotencyKey, 200))) {
      throw new KeepupError("INVALID_INPUT", "An idempotency key is text of 1 to 200 characters.")
    }
    const parsed = parseEnvelope(envelope, { maxPayloadBytes: this.#maxPayloadBytes })
    const { id, type, schemaVersion, title, taskNodeId, renderHints = null } = parsed.envelope
    const quarantine = await this.#check(type, schemaVersion, parsed.payload)
    const artifact = await this.#store.put(
      {
        id: id as ArtifactId,
        sessionId,
        type,
        schemaVersion,
        title,
        taskNodeId,
        mediaType: "application/json",
        createdAt: parsed.createdAt,
        quarantine,
        renderHints,
        idempotencyKey,
      },
      parsed.content,
    )
    return { artifact, ...verdict(artifact.quarantine) }
  }

  async get(id: string): Promise<ArtifactWithPayload> {
    const artifact = await this.#store.get(id)
    if (artifact.mediaType !== "application/json") return { ...artifact, payload: undefined }
    const content = await this.#store.read(id)
    try {
      return { ...artifact, payload: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content)) }
    } catch (cause) {
      throw new KeepupError("CORRUPT", `The content of artifact ${id} is not JSON.`, { details: { id }, cause })
    }
  }

  /** Those that fit their schema, newest first. */
  list(options: ListArtifactsOptions = {}): Promise<Artifact[]> {
    return this.#store.list({ ...options, quarantined: false })
  }

  /** Those kept apart, newest first; `quarantine` says why. */
  listQuarantined(options: ListArtifactsOptions = {}): Promise<Artifact[]> {
    return this.#store.list({ ...options, quarantined: true })
  }

  async #check(type: string, version: string, payload: unknown): Promise<readonly string[] | null> {
    const name = nameOf(type, version)
    const schema = this.#schemas.get(name) ?? (await this.#findDefault(type, version))
    if (schema === undefined) return [`Missing schema for ${name}`]
    try {
      const result = schema.safeParse(payload)
      return result.success ? null : describeIssues(result.error?.issues ?? [])
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      return [cut(`The schema for ${name} could not judge it: ${why}`)]
    }
  }

  async #findDefault(type: string, version: string): Promise<ArtifactSchema | undefined> {
    if (!this.#registerDefaults) return undefined
    const { artifactSchemas, artifactSchemaVersion } = await import("./artifact-types.js")
    return version === artifactSchemaVersion && Object.hasOwn(artifactSchemas, type)
      ? artifactSchemas[type as keyof typeof artifactSchemas]
      : undefined
  }
}

export function createArtifactRegistry(options: CreateArtifactRegistryOptions): ArtifactRegistry {
  return new ArtifactRegistry(options)
}

function nameOf(type: string, version: string): string {
  return `${type}@${version}`
}

function verdict(errors: readonly string[] | null): ArtifactValidation {
  return errors === null ? { valid: true } : { valid: false, errors }
}

/** A payload may have a million faults; the first ones say enough. */
function describeIssues(issues: readonly ArtifactSchemaIssue[]): readonly string[] {
  const told = issues.slice(0, mostErrors).map(({ path, message }) => {
    const place = path.map(String).join(".")
    return cut(place === "" ? message : `${place}: ${message}`)
  })
  if (issues.length > mostErrors) told.push(`and ${issues.length - mostErrors} more`)
  return told.length > 0 ? told : ["The payload does not fit its schema"]
}

function cut(text: string): string {
  return text.length <= longestError ? text : `${text.slice(0, longestError - 1)}…`
}
