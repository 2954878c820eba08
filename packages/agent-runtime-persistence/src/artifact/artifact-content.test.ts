import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import fc from "fast-check"
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

describe("content by its hash", () => {
  it("keeps bytes under their hash, readable by their owner only", async () => {
    const bytes = text("hello")
    const { hash, sizeBytes } = await content.put(bytes)
    expect(hash).toBe(createHash("sha256").update(bytes).digest("hex"))
    expect(sizeBytes).toBe(5)
    expect(await readFile(pathOf(hash))).toEqual(Buffer.from(bytes))
    expect((await stat(pathOf(hash))).mode & 0o777).toBe(0o600)
    for (const one of [folder, dirname(pathOf(hash))]) expect((await stat(one)).mode & 0o777).toBe(0o700)
  })

  it("gives back any bytes as they came in, and keeps the same bytes once", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 12 }), async (all) => {
        const own = createArtifactContent({ folder: await mkdtemp(join(root, "run-")), clock: { now: () => now } })
        const hashes = await Promise.all([...all, ...all].map(async (bytes) => (await own.put(bytes)).hash))
        for (const [i, bytes] of [...all, ...all].entries()) {
          expect(Buffer.from(await own.read(hashes[i] as string)).equals(bytes)).toBe(true)
        }
        expect((await listed(own)).map(({ hash }) => hash)).toEqual([...new Set(hashes)].sort())
      }),
      { numRuns: 40 },
    )
  })

  it("writes nothing when the content is there, and makes it young again", async () => {
    const { hash } = await content.put(text("hello"))
    await age(pathOf(hash), 2 * hour)
    const steps: string[] = []
    const again = createArtifactContent({ folder, clock: { now: () => now }, onStep: (step) => steps.push(step) })
    await again.put(text("hello"))
    expect(steps).toEqual([])
    expect(Math.abs((await stat(pathOf(hash))).mtimeMs - now)).toBeLessThan(2)
  })

  it.each(["cut short", "changed"])("writes content again that was %s", async (how) => {
    const { hash } = await content.put(text("hello"))
    if (how === "changed") await writeFile(pathOf(hash), "hellO")
    else await truncate(pathOf(hash), 2)
    await content.put(text("hello"))
    expect(Buffer.from(await content.read(hash)).toString()).toBe("hello")
  })

  it("names file and hash of content that was changed", async () => {
    const { hash } = await content.put(text("hello"))
    await writeFile(pathOf(hash), "hellO")
    await expect(content.read(hash)).rejects.toMatchObject({
      code: "CORRUPT",
      details: { file: pathOf(hash), hash },
      hint: expect.stringContaining("doctor"),
    })
  })

  it("says that content is not there", async () => {
    await expect(content.read("ab".repeat(32))).rejects.toMatchObject({ code: "NOT_FOUND" })
    expect(await content.has("ab".repeat(32))).toBe(false)
    expect(await content.delete("ab".repeat(32))).toBe(false)
    expect(await listed(content)).toEqual([])
    expect(await content.sweep(() => false)).toMatchObject({ removed: 0, kept: 0 })
    expect(await readdir(root)).toEqual([])
  })

  it("deletes content once", async () => {
    const { hash } = await content.put(text("hello"))
    expect(await content.has(hash)).toBe(true)
    expect(await content.delete(hash)).toBe(true)
    expect(await content.delete(hash)).toBe(false)
    expect(await content.has(hash)).toBe(false)
  })

  it.each(["", "../../etc/passwd", "AB".repeat(32), `${"ab".repeat(31)}/.`, `${"ab".repeat(32)}\n`])(
    "never lets %j become a path",
    async (hash) => {
      for (const call of [content.read, content.has, content.delete]) {
        await expect(call(hash)).rejects.toMatchObject({ code: "INVALID_INPUT" })
      }
      await expect(content.read(5 as never)).rejects.toMatchObject({ code: "INVALID_INPUT" })
    },
  )

  it("lets many writers keep the same and other content at once", async () => {
    const other = createArtifactContent({ folder, clock: { now: () => now } })
    const all = Array.from({ length: 40 }, (_, i) => text(`content ${i % 10}`))
    await Promise.all(all.flatMap((bytes) => [content.put(bytes), other.put(bytes)]))
    expect(await listed(other)).toHaveLength(10)
    for (const { hash } of await listed(content)) expect((await content.read(hash)).byteLength).toBe(9)
    for (const shard of await readdir(folder)) {
      expect((await readdir(join(folder, shard))).filter((name) => name.startsWith("."))).toEqual([])
    }
  })
})

describe("a folder with odd things in it", () => {
  it("does not follow a link in the place of content, and mends it when the content is put again", async () => {
    const { hash } = await content.put(text("secret"))
    const outside = join(root, "outside")
    await writeFile(outside, "secret")
    await rm(pathOf(hash))
    await symlink(outside, pathOf(hash))
    await expect(content.read(hash)).rejects.toMatchObject({ code: "CORRUPT" })
    await expect(content.delete(hash)).rejects.toMatchObject({ code: "CORRUPT" })
    expect(await content.has(hash)).toBe(false)
    expect(await listed(content)).toEqual([])
    await content.put(text("secret"))
    expect((await lstat(pathOf(hash))).isFile()).toBe(true)
    expect(await readFile(outside, "utf8")).toBe("secret")
  })

  it("does not follow a link in the place of a shard", async () => {
    const { hash } = await content.put(text("hello"))
    await rename(dirname(pathOf(hash)), join(root, "elsewhere"))
    await symlink(join(root, "elsewhere"), dirname(pathOf(hash)))
    const fresh = createArtifactContent({ folder, clock: { now: () => now } })
    const calls = [
      () => fresh.put(text("hello")),
      () => fresh.read(hash),
      () => fresh.has(hash),
      () => fresh.delete(hash),
    ]
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ code: "CORRUPT" })
    }
    await age(join(root, "elsewhere", hash), 2 * hour)
    expect(await fresh.sweep(() => false)).toMatchObject({ removed: 0 })
    expect(await readdir(join(root, "elsewhere"))).toEqual([hash])
  })

  it("does not wait for a pipe, and says when a folder stands in the place of content", async () => {
    const { hash } = await content.put(text("hello"))
    await rm(pathOf(hash))
    execFileSync("mkfifo", [pathOf(hash)])
    await expect(content.read(hash)).rejects.toMatchObject({ code: "CORRUPT" })
    await rm(pathOf(hash))
    await mkdir(pathOf(hash))
    await expect(content.read(hash)).rejects.toMatchObject({ code: "CORRUPT" })
    await expect(content.put(text("hello"))).rejects.toMatchObject({ code: "CORRUPT" })
  })

  it("neither lists nor removes what is not content", async () => {
    const { hash } = await content.put(text("hello"))
    const shard = dirname(pathOf(hash))
    const wrongShard = join(folder, "zz")
    await mkdir(wrongShard)
    const odd = [
      join(folder, "README"),
      join(shard, "note.txt"),
      join(shard, hash.toUpperCase()),
      join(shard, `${hash}x`),
      join(shard, hash.replace(/^../, hash.startsWith("00") ? "11" : "00")),
      join(wrongShard, hash),
    ]
    for (const path of odd) {
      await writeFile(path, "mine")
      await age(path, 2 * hour)
    }
    expect((await listed(content)).map((one) => one.hash)).toEqual([hash])
    await content.sweep(() => false)
    for (const path of odd) expect(await readFile(path, "utf8")).toBe("mine")
  })

  it("says that the folder is a file", async () => {
    await writeFile(folder, "x")
    await expect(content.put(text("hello"))).rejects.toMatchObject({ code: "INVALID_INPUT" })
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
