/** What is not compressed is read by everyone as if it were, and is compressed when packs are merged. */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { deflateSync, inflateSync } from "node:zlib"
import fc from "fast-check"
import { expect, it } from "vitest"
import { makeWorkspace } from "../../test/snapshot/workspace-fixture.js"
import { isPlainPack, readPlain, storePlain } from "./plain-objects.js"

const sizes = fc.oneof(fc.constantFrom(0, 1, 3799, 3800, 3801, 65_534, 65_535), fc.nat(20_000))

it("stores bytes in a stream that zlib reads, up to the largest block", () => {
  fc.assert(
    fc.property(sizes, fc.nat(255), (size, seed) => {
      const data = Buffer.from(Array.from({ length: size }, (_, i) => (i * 31 + seed + (i >> 8)) & 255))
      const stream = storePlain(data) as Buffer
      expect(inflateSync(stream).equals(data)).toBe(true)
      expect(readPlain(Buffer.concat([stream, Buffer.from("what follows")]), size)?.equals(data)).toBe(true)
      expect(readPlain(stream, size + 1)).toBeUndefined()
      expect(readPlain(stream.subarray(0, -1), size)).toBeUndefined()
    }),
  )
  expect(storePlain(Buffer.alloc(65_536))).toBeUndefined()
  expect(inflateSync(storePlain(Buffer.alloc(65_535, 255)) as Buffer).equals(Buffer.alloc(65_535, 255))).toBe(true)
})

it("takes no other stream for one of its own", () => {
  for (const level of [0, 1, 6, 9]) {
    const data = Buffer.from("some text ".repeat(level === 0 ? 8000 : 80))
    expect(readPlain(deflateSync(data, { level }), data.length)).toBeUndefined()
  }
})

it("compresses what small snapshots wrote when their packs are merged, whatever the order", async () => {
  const work = makeWorkspace()
  try {
    const store = await work.open()
    const packs = () => {
      const folder = join(store.directory, "objects/pack")
      const files = readdirSync(folder).filter((name) => name.endsWith(".pack"))
      return files.map((name) => ({
        isPlain: isPlainPack(join(folder, name)),
        size: statSync(join(folder, name)).size,
      }))
    }
    const commits: string[] = []
    const text = (i: number) => `one line of the text number ${i} that repeats itself\n`.repeat(400)
    for (let i = 0; i < 4; i++) {
      work.write(`f${i}.txt`, text(i))
      commits.push((await store.capture({ message: `${i}`, checkpointId: `c${i}` })).commit)
    }
    expect(packs().filter(({ isPlain }) => isPlain)).toHaveLength(3) // all but the first
    await store.consolidate()
    work.write("f4.txt", text(4))
    commits.push((await store.capture({ message: "4", checkpointId: "c4" })).commit)
    await store.consolidate()
    expect(packs().map(({ isPlain }) => isPlain)).toEqual([false])
    expect(packs()[0]?.size).toBeLessThan(text(0).length / 2)
    expect((await store.check()).problems).toEqual([])
    for (const [i, commit] of commits.entries())
      expect((await store.readFile(commit, `f${i}.txt`)).toString()).toBe(text(i))
    work.write("f5.txt", text(5))
    await store.capture({ message: "5", checkpointId: "c5" })
    await store.gc(["c0", "c5"])
    expect(packs().map(({ isPlain }) => isPlain)).toEqual([false])
    expect(packs()[0]?.size).toBeLessThan(text(0).length / 2)
    await store.close()
  } finally {
    work.close()
  }
})

it("compresses a pack that begins with a large file when packs are merged, too", async () => {
  const work = makeWorkspace()
  try {
    const store = await work.open()
    work.write("a.txt", "first")
    await store.capture({ message: "0", checkpointId: "c0" })
    work.write("a-large.txt", "large\n".repeat(20_000))
    for (let i = 0; i < 30; i++) work.write(`z${i}.txt`, `text ${i} that repeats itself\n`.repeat(1_500))
    await store.capture({ message: "1", checkpointId: "c1" })
    await store.consolidate()
    const folder = join(store.directory, "objects/pack")
    const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size)
    expect(Math.max(...sizes)).toBeLessThan(100_000)
    await store.close()
  } finally {
    work.close()
  }
})
