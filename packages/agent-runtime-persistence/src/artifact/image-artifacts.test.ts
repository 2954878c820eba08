import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openStore, type Store } from "../store/open-store.js"
import { createArtifactContent } from "./artifact-content.js"
import { createArtifactPipeline } from "./artifact-pipeline.js"
import { createArtifactRegistry } from "./artifact-registry.js"
import { createImageArtifactStore, type ImageArtifactStore } from "./image-artifacts.js"
import { recognizeImage } from "./recognize-image.js"

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)
const lossless = Buffer.from("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==", "base64")
const lossy = riff("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2a, 0x20, 0x03, 0x58, 0xc2])
const extended = riff("VP8X", [0, 0, 0, 0, 0x1f, 0x03, 0, 0x57, 0x02, 0])
const jpeg = Buffer.from([
  ...[0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xc4, 0, 3, 9],
  ...[0xff, 0xc2, 0, 11, 8, 0x02, 0x58, 0x03, 0x20, 1, 1, 0x11, 0, 0xff, 0xd9],
])
const images = [
  { name: "PNG", bytes: png, mediaType: "image/png", width: 1, height: 1 },
  { name: "JPEG", bytes: jpeg, mediaType: "image/jpeg", width: 800, height: 600 },
  { name: "lossless WebP", bytes: lossless, mediaType: "image/webp", width: 1, height: 1 },
  { name: "lossy WebP", bytes: lossy, mediaType: "image/webp", width: 800, height: 600 },
  { name: "extended WebP", bytes: extended, mediaType: "image/webp", width: 800, height: 600 },
] as const

describe("recognizeImage", () => {
  it.each(images)("knows a $name by its bytes", ({ bytes, mediaType, width, height }) => {
    expect(recognizeImage(bytes)).toEqual({ mediaType, width, height })
    expect(recognizeImage(new Uint8Array([0, ...bytes]).subarray(1))).toEqual({ mediaType, width, height })
  })

  it.each(images)("never takes the beginning of a $name for more than it is", ({ bytes, mediaType }) => {
    for (let length = 0; length < bytes.length; length++) {
      const facts = recognizeImage(bytes.subarray(0, length))
      if (facts !== undefined) expect(facts.mediaType).toBe(mediaType)
      if (length < 16) expect(facts).toBeUndefined()
    }
  })

  it.each([
    ["a GIF", Buffer.from("GIF89a\x01\0\x01\0".padEnd(64, "\0"))],
    ["an SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ["a page that calls itself image.png", Buffer.from("<html>image.png</html>".padEnd(64))],
    ["a PNG without its header", Buffer.from(png.map((byte, i) => (i === 12 ? 0 : byte)))],
    ["a PNG of no width", Buffer.from(png.map((byte, i) => (i >= 16 && i < 20 ? 0 : byte)))],
    ["a JPEG that ends before its frame", Buffer.from([0xff, 0xd8, 0xff, 0xd9, 0, 0, 0, 0])],
    ["a JPEG whose segments lead nowhere", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xc0])],
    ["a JPEG with rubbish between its segments", Buffer.from([0xff, 0xd8, 0, 0xc0, 0, 9, 1, 1, 1, 1, 1])],
    ["a JPEG with a frame too short", Buffer.from([0xff, 0xd8, 0xff, 0xc0, 0, 2, 1, 1, 1, 1, 1])],
    ["a WebP of an unknown kind", riff("VP9 ", Array(10).fill(1))],
    ["a sound", Buffer.from(`RIFF\0\0\0\0WAVE${"x".repeat(40)}`)],
    ["nothing", Buffer.alloc(0)],
  ])("does not know %s", (_what, bytes) => {
    expect(recognizeImage(bytes)).toBeUndefined()
  })

  it("survives any bytes, also behind the beginning of an image", () => {
    const start = fc.constantFrom(Buffer.alloc(0), ...images.map(({ bytes }) => bytes.subarray(0, 12)))
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 200 }), (head, tail) => {
        const facts = recognizeImage(Buffer.concat([head, tail]))
        if (facts !== undefined) expect(facts.width * facts.height).toBeGreaterThan(0)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe("createImageArtifactStore", () => {
  let folder: string
  let store: Store
  let imageStore: ImageArtifactStore
  let told: unknown[]

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "keepup-images-"))
    const artifactContent = createArtifactContent({ folder, clock: { now: Date.now } })
    store = await openStore("memory:", { artifactContent })
    told = []
    const announcer = createArtifactPipeline({
      registry: createArtifactRegistry({ store: store.artifacts }),
      eventBus: { emit: (type, data) => told.push([type, data]) },
    })
    imageStore = createImageArtifactStore({ store: store.artifacts, clock: { now: () => 5 }, announcer })
  })
  afterEach(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })

  it.each(images)("keeps a $name under its hash, once, and tells of it once", async (image) => {
    const options = { title: "Screenshot", taskNodeId: "task-1", correlationId: "run-1", source: "browser" }
    const { artifact, mediaType, width, height } = await imageStore.put(image.bytes, options)
    expect({ mediaType, width, height }).toEqual({
      mediaType: image.mediaType,
      width: image.width,
      height: image.height,
    })
    expect(artifact).toMatchObject({
      id: `image_${artifact.hash}`,
      type: "ImageArtifact",
      sessionId: null,
      createdAt: 5,
    })
    const again = await imageStore.put(image.bytes)
    expect(again.artifact).toEqual(artifact)
    expect(await imageStore.get(artifact.id)).toEqual(again)
    expect(Buffer.from(await imageStore.read(artifact.id)).equals(image.bytes)).toBe(true)
    expect(await readdir(folder)).toHaveLength(1)
    expect(told).toEqual([
      [
        "artifact:emitted",
        expect.objectContaining({ artifactId: artifact.id, correlationId: "run-1", source: "browser" }),
      ],
    ])
  })

  it("gives an image without a title one that says how large it is, and shows it among the artifacts", async () => {
    const { artifact } = await imageStore.put(jpeg)
    expect(artifact.title).toBe("Image, 800 × 600")
    const registry = createArtifactRegistry({ store: store.artifacts })
    expect(await registry.list()).toEqual([artifact])
    expect(await registry.get(artifact.id)).toEqual({ ...artifact, payload: undefined })
  })

  it("takes exactly 5 MiB and refuses one byte more", async () => {
    const largest = Buffer.alloc(5 * 1024 * 1024)
    png.copy(largest)
    const { artifact } = await imageStore.put(largest)
    expect(artifact.sizeBytes).toBe(5 * 1024 * 1024)
    await expect(imageStore.put(Buffer.concat([largest, Buffer.alloc(1)]))).rejects.toMatchObject({
      code: "INVALID_INPUT",
      hint: expect.stringContaining("smaller"),
    })
    expect(await store.artifacts.list()).toHaveLength(1)
    expect(await readdir(folder)).toHaveLength(1)
  })

  it.each([
    ["no image", Buffer.from("#!/bin/sh\nrm -rf /\n".repeat(4)), {}],
    ["no bytes", "iVBORw0KGgo" as never, {}],
    ["an image with a title that is none", png, { title: 5 as never }],
    ["an image with a task too long", png, { taskNodeId: "x".repeat(201) }],
  ])("leaves nothing behind of %s", async (_what, bytes, options) => {
    await expect(imageStore.put(bytes, options)).rejects.toMatchObject({ code: "INVALID_INPUT" })
    expect(await store.artifacts.list()).toEqual([])
    expect(await readdir(folder)).toEqual([])
    expect(told).toEqual([])
  })

  it("keeps the image when nobody could be told, and tells when it is put again", async () => {
    let isDown = true
    const heard: string[] = []
    const shaky = createImageArtifactStore({
      store: store.artifacts,
      clock: { now: () => 5 },
      announcer: {
        async announce({ id }) {
          if (isDown) throw new KeepupError("UNAVAILABLE", "The disk is full.")
          heard.push(id)
        },
      },
    })
    await expect(shaky.put(png)).rejects.toMatchObject({ code: "UNAVAILABLE" })
    isDown = false
    const { artifact } = await shaky.put(png)
    expect(heard).toEqual([artifact.id])
  })

  it("reads images only, by their id only", async () => {
    for (const id of ["plan-1", "image_../../x", "image_AB", 5 as never]) {
      await expect(imageStore.read(id)).rejects.toMatchObject({ code: "INVALID_INPUT" })
      await expect(imageStore.get(id)).rejects.toMatchObject({ code: "INVALID_INPUT" })
    }
    await expect(imageStore.read(`image_${"ab".repeat(32)}`)).rejects.toMatchObject({ code: "NOT_FOUND" })
  })
})

function riff(kind: string, body: readonly number[]): Buffer {
  const head = Buffer.alloc(20)
  head.write("RIFF", 0, "latin1")
  head.write("WEBP", 8, "latin1")
  head.write(kind, 12, "latin1")
  return Buffer.concat([head, Buffer.from(body)])
}
