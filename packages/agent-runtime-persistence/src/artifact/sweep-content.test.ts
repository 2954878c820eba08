import { mkdtemp, readdir, rename, rm, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type ArtifactContent, createArtifactContent } from "./artifact-content.js"

const hour = 3_600_000
let root: string
let folder: string
let now: number
let content: ArtifactContent

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "keepup-content-"))
  folder = join(root, "artifacts")
  now = Date.now()
  content = createArtifactContent({ folder, clock: { now: () => now } })
})
afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

describe("sweep", () => {
  it("removes only what is unreachable and older than an hour", async () => {
    const [oldReachable, oldLost, young] = await Promise.all(["a", "bb", "ccc"].map((one) => content.put(text(one))))
    for (const one of [oldReachable, oldLost]) await age(pathOf(one?.hash as string), hour + 1_000)
    const result = await content.sweep((hash) => hash === oldReachable?.hash)
    expect(result).toEqual({ removed: 1, freedBytes: 2, kept: 2, temporaryRemoved: 0, failed: [] })
    expect(new Set((await listed(content)).map((one) => one.hash))).toEqual(new Set([oldReachable?.hash, young?.hash]))
  })

  it("asks whoever knows, who may take time, and takes another age when told", async () => {
    const { hash } = await content.put(text("hello"))
    now += 10_000
    expect(await content.sweep(async () => true, 5_000)).toMatchObject({ removed: 0, kept: 1 })
    expect(await content.sweep(async () => false, 60_000)).toMatchObject({ removed: 0, kept: 1 })
    expect(await content.sweep(async () => false, 5_000)).toMatchObject({ removed: 1, freedBytes: 5 })
    expect(await content.has(hash)).toBe(false)
    for (const bad of [-1, Number.NaN]) {
      await expect(content.sweep(() => false, bad)).rejects.toMatchObject({ code: "INVALID_INPUT" })
    }
  })

  it("keeps everything from the future: a clock that was set back removes nothing", async () => {
    await content.put(text("hello"))
    now -= 24 * hour
    expect(await content.sweep(() => false)).toMatchObject({ removed: 0, kept: 1 })
  })

  it("removes nothing more when nobody can say what is reachable", async () => {
    const { hash } = await content.put(text("hello"))
    await age(pathOf(hash), 2 * hour)
    await expect(
      content.sweep(() => {
        throw Object.assign(new Error("database gone"), { code: "EIO" })
      }),
    ).rejects.toThrow("database gone")
    expect(await content.has(hash)).toBe(true)
  })

  it("keeps content that is put again while the sweep asks about it", async () => {
    const { hash } = await content.put(text("hello"))
    await age(pathOf(hash), 2 * hour)
    const result = await content.sweep(async () => {
      await content.put(text("hello"))
      return false
    })
    expect(result).toMatchObject({ removed: 0, kept: 1 })
    expect(Buffer.from(await content.read(hash)).toString()).toBe("hello")
  })

  it("takes it in good part when another sweep was faster", async () => {
    const { hash } = await content.put(text("hello"))
    await age(pathOf(hash), 2 * hour)
    const result = await content.sweep(async () => {
      await content.sweep(() => false)
      return false
    })
    expect(result).toEqual({ removed: 0, freedBytes: 0, kept: 0, temporaryRemoved: 0, failed: [] })
  })

  it("finishes what a killed sweep left: the content stays readable, goes back, and is judged anew", async () => {
    const { hash } = await content.put(text("hello"))
    const aside = join(dirname(pathOf(hash)), `.${hash}.0123456789ab.aside`)
    await rename(pathOf(hash), aside)
    expect(await content.has(hash)).toBe(true)
    expect(Buffer.from(await content.read(hash)).toString()).toBe("hello")
    expect(await content.sweep(() => true)).toMatchObject({ kept: 0 })
    now += 2 * 60_000
    expect(await content.sweep(() => true)).toMatchObject({ kept: 1 })
    expect(await readdir(dirname(aside))).toEqual([hash])
    await rename(pathOf(hash), aside)
    expect(await content.delete(hash)).toBe(true)
    expect(await content.has(hash)).toBe(false)
  })

  it("removes what writes cut short left behind, once no live write can be that old", async () => {
    const { hash } = await content.put(text("hello"))
    const left = join(dirname(pathOf(hash)), ".keepup-0123456789abcdef.tmp")
    await writeFile(left, "half")
    await age(left, hour / 2)
    expect(await content.sweep(() => true, 0)).toMatchObject({ temporaryRemoved: 0 })
    await age(left, 2 * hour)
    expect(await content.sweep(() => true)).toMatchObject({ temporaryRemoved: 1, freedBytes: 4, kept: 1 })
    expect(await readdir(dirname(left))).toEqual([hash])
  })

  it("never makes content old that was put again after a killed sweep", async () => {
    const { hash } = await content.put(text("hello"))
    const aside = join(dirname(pathOf(hash)), `.${hash}.0123456789ab.aside`)
    await age(pathOf(hash), 2 * hour)
    await rename(pathOf(hash), aside)
    await content.put(text("hello"))
    now += 2 * 60_000
    expect(await content.sweep(() => false)).toMatchObject({ removed: 0, kept: 1 })
    expect(await readdir(dirname(aside))).toEqual([hash])
  })

  it("keeps the younger of two when what lies aside was put later", async () => {
    const { hash } = await content.put(text("hello"))
    const aside = join(dirname(pathOf(hash)), `.${hash}.0123456789ab.aside`)
    await rename(pathOf(hash), aside)
    await content.put(text("hello"))
    await age(pathOf(hash), 2 * hour)
    now += 2 * 60_000
    expect(await content.sweep(() => false)).toMatchObject({ removed: 0, kept: 1 })
    expect(await readdir(dirname(aside))).toEqual([hash])
  })
})

function pathOf(hash: string): string {
  return join(folder, hash.slice(0, 2), hash)
}

async function age(path: string, milliseconds: number): Promise<void> {
  const then = new Date(now - milliseconds)
  await utimes(path, then, then)
}

async function listed(from: ArtifactContent) {
  const all = []
  for await (const one of from.list()) all.push(one)
  return all
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value)
}
