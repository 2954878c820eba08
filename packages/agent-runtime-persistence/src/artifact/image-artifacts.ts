/**
 * Images as artifacts: PNG, JPEG and WebP of at most 5 MiB, known by their bytes. The id is `image_<hash>`, so an image
 * is kept once, for all sessions. What is not such an image is refused before anything is written.
 */
import { createHash } from "node:crypto"
import { type Artifact, type ArtifactId, type ArtifactStore, type Clock, KeepupError } from "@ku0/agent-runtime-core"
import { isText } from "./parse-envelope.js"
import { type ImageFacts, recognizeImage } from "./recognize-image.js"

/** Tells of a kept artifact; an `ArtifactPipeline` is one. */
export interface ArtifactAnnouncer {
  announce(artifact: Artifact, options?: { correlationId?: string; source?: string }): Promise<unknown>
}

export interface CreateImageArtifactStoreOptions {
  readonly store: ArtifactStore
  readonly clock: Clock
  /** If it throws, `put` throws; the image stays kept, and putting it again tells of it again. */
  readonly announcer?: ArtifactAnnouncer
  /** 5 MiB unless told. */
  readonly maxBytes?: number
}

export interface PutImageOptions {
  readonly title?: string
  readonly taskNodeId?: string
  readonly correlationId?: string
  readonly source?: string
}

export interface ImageArtifactStore {
  /** Keeps an image and tells of it. Too large, or no image we know, is `INVALID_INPUT` and leaves nothing behind. */
  put(bytes: Uint8Array, options?: PutImageOptions): Promise<ImageArtifact>
  get(id: string): Promise<ImageArtifact>
  read(id: string): Promise<Uint8Array>
}

export interface ImageArtifact extends ImageFacts {
  readonly artifact: Artifact
}

const mebibyte = 1024 * 1024

export function createImageArtifactStore(options: CreateImageArtifactStoreOptions): ImageArtifactStore {
  const { store, clock, announcer, maxBytes = 5 * mebibyte } = options

  async function put(bytes: Uint8Array, about: PutImageOptions = {}): Promise<ImageArtifact> {
    const facts = inspect(bytes, maxBytes)
    const { title = `Image, ${facts.width} × ${facts.height}`, taskNodeId = null, correlationId, source } = about
    if (!isText(title, 1_000) || (taskNodeId !== null && !isText(taskNodeId, 200))) {
      throw new KeepupError("INVALID_INPUT", "The title or the task of an image is no text, or too long.")
    }
    const artifact = await store.put(
      {
        id: `image_${createHash("sha256").update(bytes).digest("hex")}` as ArtifactId,
        sessionId: null, // It may be in use by other sessions when one is deleted.
        type: "ImageArtifact",
        schemaVersion: "1.0.0",
        title,
        taskNodeId,
        mediaType: facts.mediaType,
        createdAt: clock.now(),
        quarantine: null,
        renderHints: { width: facts.width, height: facts.height },
        idempotencyKey: null,
      },
      bytes,
    )
    await announcer?.announce(artifact, {
      ...(correlationId === undefined ? {} : { correlationId }),
      ...(source === undefined ? {} : { source }),
    })
    return { ...facts, artifact }
  }

  async function get(id: string): Promise<ImageArtifact> {
    const artifact = await store.get(parseImageId(id))
    return { ...inspect(await store.read(id), Number.POSITIVE_INFINITY), artifact }
  }

  async function read(id: string): Promise<Uint8Array> {
    return store.read(parseImageId(id))
  }

  return { put, get, read }
}

function inspect(bytes: Uint8Array, maxBytes: number): ImageFacts {
  if (!(bytes instanceof Uint8Array)) throw new KeepupError("INVALID_INPUT", "An image is handed over as its bytes.")
  if (bytes.byteLength > maxBytes) {
    throw new KeepupError("INVALID_INPUT", `The image has ${bytes.byteLength} bytes; at most ${maxBytes} are kept.`, {
      hint: "Make it smaller, or save it as WebP or JPEG.",
    })
  }
  const facts = recognizeImage(bytes)
  if (facts !== undefined) return facts
  throw new KeepupError("INVALID_INPUT", "These bytes are no PNG, JPEG or WebP image.", {
    hint: "Convert the image first. Its bytes decide, not its name.",
  })
}

function parseImageId(id: unknown): string {
  if (typeof id === "string" && /^image_[0-9a-f]{64}$/.test(id)) return id
  throw new KeepupError("INVALID_INPUT", "Not the id of an image: `image_` and a hash are expected.")
}
