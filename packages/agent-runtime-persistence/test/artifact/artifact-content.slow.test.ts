/** Content across processes: killed at every step of a write, on a full disk, on a read-only one, swept while in use. */
import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { createArtifactContent } from "../../src/artifact/artifact-content.js"
import type { WriteStep } from "../../src/artifact/write-file-atomic.js"
import { bundleProgram, startProgram } from "../../src/testing/start-program.js"
import { createTemporaryFolder, type TemporaryFolder } from "../../src/testing/temporary-folder.js"

const steps: readonly WriteStep[] = ["created", "written", "synced", "renamed", "folder-synced"]
const hour = 3_600_000

let program: string
let temporary: TemporaryFolder
let folder: string

beforeAll(async () => {
  program = await bundleProgram(join(import.meta.dirname, "content-program.ts"))
})
beforeEach(() => {
  temporary = createTemporaryFolder()
  folder = temporary.file("artifacts")
})
afterEach(() => temporary.remove())

describe("a process killed while it keeps content", () => {
  it.each(steps)("at step %s leaves what it had kept, and rubbish at most", async (step) => {
    const { said, ended } = startProgram(program, ["die-at", folder, step])
    expect(await ended).toMatchObject({ signal: "SIGKILL" })
    const [{ kept }] = said as [{ kept: string }]
    const later = { now: () => Date.now() + 2 * hour }
    const content = createArtifactContent({ folder, clock: later })
    expect(text(await content.read(kept))).toBe("first")

    const isWhole = steps.indexOf(step) >= steps.indexOf("renamed")
    const hashes: string[] = []
    for await (const { hash } of content.list()) hashes.push(hash)
    expect(hashes).toHaveLength(isWhole ? 2 : 1)
    for (const hash of hashes) expect(["first", "second"]).toContain(text(await content.read(hash)))

    const swept = await content.sweep((hash) => hash === kept)
    expect(swept).toMatchObject({ kept: 1, removed: isWhole ? 1 : 0, temporaryRemoved: isWhole ? 0 : 1, failed: [] })
    expect(readdirSync(folder).flatMap((shard) => readdirSync(join(folder, shard)))).toEqual([kept])
    const again = await createArtifactContent({ folder, clock: { now: Date.now } }).put(Buffer.from("second"))
    expect(text(await content.read(again.hash))).toBe("second")
  })
})

describe("several processes at once", () => {
  it("lose nothing that was put a moment ago, however hard two of them sweep", async () => {
    const detail = "6000,150"
    const putting = Array.from({ length: 3 }, () => startProgram(program, ["churn", folder, detail]))
    const sweeping = Array.from({ length: 2 }, () => startProgram(program, ["sweep", folder, detail]))
    for (const one of [...putting, ...sweeping])
      expect([await one.ended, one.errors()]).toMatchObject([{ code: 0 }, ""])
    for (const { said } of putting) expect(said).toEqual([{ puts: expect.any(Number) }])
    expect(sweeping.flatMap(({ said }) => said)).toEqual(Array(2).fill({ removed: expect.any(Number), failed: [] }))
    const removed = sweeping.flatMap(({ said }) => said as { removed: number }[])
    expect(removed.reduce((sum, one) => sum + one.removed, 0)).toBeGreaterThan(0)
  })
})

describe("a disk of its own", () => {
  it("that is full gives UNAVAILABLE, loses nothing, leaves nothing half, and works again when there is room", async () => {
    const { said, ended, errors } = startProgram(program, ["fill", folder], { under: withDisk("256k") })
    expect([await ended, errors()]).toMatchObject([{ code: 0 }, ""])
    const full = {
      code: "UNAVAILABLE",
      hint: expect.stringContaining("Free disk space"),
      details: { system: "ENOSPC" },
    }
    expect(said).toMatchObject([
      { full, strangers: [] },
      { refused: full, artifacts: 0, strangers: [] },
      { after: "small again", readable: expect.any(Number) },
    ])
    expect((said[0] as { kept: number }).kept).toBeGreaterThan(4)
  })

  it("that is read-only gives UNAVAILABLE and can still be read", async () => {
    const { said, ended, errors } = startProgram(program, ["read-only", folder], { under: withDisk("1m") })
    expect([await ended, errors()]).toMatchObject([{ code: 0 }, ""])
    const refused = { code: "UNAVAILABLE", hint: expect.stringContaining("for writing"), details: { system: "EROFS" } }
    expect(said).toMatchObject([{ refused, again: refused, still: "first", failed: ["UNAVAILABLE"], strangers: [] }])
  })
})

/** Runs a program that alone sees a small disk at the folder; it is gone with the program. */
function withDisk(size: string): string[] {
  mkdirSync(folder)
  const user = process.getuid?.() === 0 ? [] : ["--map-root-user"]
  const script = `mount -t tmpfs -o size=${size} tmpfs "$0" && exec "$@"`
  return ["unshare", "--mount", ...user, "sh", "-c", script, folder]
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}
