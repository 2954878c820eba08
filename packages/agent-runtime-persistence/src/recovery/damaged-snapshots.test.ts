/** Damage to the folder of the snapshots: it is found or made good, and a repair never costs a file that could be read. */
import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import type { Checkpoint, Session } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { listCheckpointFiles, readCheckpointFile } from "../time-travel/look.js"
import { restoreCheckpoint } from "../time-travel/restore.js"
import { checkStore } from "./check-store.js"
import { repairStore } from "./repair-store.js"

let travel: TimeTravelFixture
let close: () => Promise<void>
let session: Session
let folder: string

beforeEach(async () => {
  travel = await openFixture()
  close = travel.close
  chmodSync(travel.stateDirectory, 0o700)
  session = await travel.createSession()
  travel.write({ "a.txt": "a1\n", "dir/b.txt": "b1\n", "long.txt": "a line\n".repeat(500) })
  await travel.manager.take({ sessionId: session.id, trigger: "manual" })
  travel.write({ "a.txt": "a2\n", "dir/b.txt": null, "c.txt": "c\n" })
  await travel.manager.take({ sessionId: session.id, trigger: "manual" })
  folder = (await travel.snapshots(travel.workspace)).directory
})
afterEach(async () => {
  await travel.close()
  await close()
})

/** Damages the store while nobody uses it. */
async function damageClosed(damage: () => void): Promise<void> {
  await (await travel.snapshots(travel.workspace)).close()
  await travel.store.close()
  damage()
  travel = await openFixture({ root: join(travel.workspace, "..") })
}

/** Every file of every checkpoint that can be read. */
async function readAll(): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const checkpoint of await travel.store.checkpoints.list(session.id)) {
    const files = await listCheckpointFiles(travel, checkpoint).catch(() => [])
    for (const { path } of files) {
      const content = await readCheckpointFile(travel, checkpoint, path).catch(() => undefined)
      if (content !== undefined) found.set(`${checkpoint.number} ${path}`, content.toString())
    }
  }
  return found
}

/** The files of the store that the pattern fits. */
function filesLike(pattern: RegExp, from = folder): string[] {
  const all = readdirSync(from, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesLike(/./, join(from, entry.name)) : [join(from, entry.name)],
  )
  const fits = from === folder ? all.filter((path) => pattern.test(path.slice(folder.length + 1))) : all
  if (from === folder) expect(fits.length).toBeGreaterThan(0)
  return fits
}

function overwrite(path: string, bytes: Buffer, at: number): void {
  chmodSync(path, 0o600)
  const handle = openSync(path, "r+")
  writeSync(handle, bytes, 0, bytes.length, at)
  closeSync(handle)
}

const zeros = (path: string) => overwrite(path, Buffer.alloc(lstatSync(path).size), 0)
const middle = (path: string) => Math.floor(lstatSync(path).size / 2)
const inPlaceOf = (path: string) => {
  rmSync(path)
  mkdirSync(path)
}
const packs = /objects\/pack\/pack-.*\.pack$/
const indexes = /objects\/pack\/pack-.*\.idx$/

describe("what every store of snapshots has", () => {
  const parts: readonly [what: string, damage: () => void][] = [
    ["a configuration of zeros", () => zeros(join(folder, "config"))],
    ["half a configuration", () => truncateSync(join(folder, "config"), 30)],
    ["no configuration", () => rmSync(join(folder, "config"))],
    ["a folder in the place of the configuration", () => inPlaceOf(join(folder, "config"))],
    ["an empty HEAD", () => truncateSync(join(folder, "HEAD"))],
    ["no folder of refs for heads", () => rmSync(join(folder, "refs/heads"), { recursive: true })],
    ["no folder of restores", () => rmSync(join(folder, "restores"), { recursive: true })],
    ["no folder of facts", () => rmSync(join(folder, "info"), { recursive: true })],
    ["no folder of facts about objects", () => rmSync(join(folder, "objects/info"), { recursive: true })],
    ["attributes that would change line ends", () => writeFileSync(join(folder, "info/attributes"), "* text\n")],
    ["half a binding", () => truncateSync(join(folder, "keepup.json"), 20)],
    ["a binding to nothing", () => writeFileSync(join(folder, "keepup.json"), "null\n")],
    ["a binding to another workspace", () => writeFileSync(join(folder, "keepup.json"), '{"workspace":"/other"}')],
  ]

  it.each(parts)("is there again after %s, and nothing is lost", async (_, damage) => {
    const before = await readAll()
    await damageClosed(damage)
    expect(await readAll()).toEqual(before)
    expect(await checkStore(travel, { stateDirectory: travel.stateDirectory })).toEqual([])
    travel.write({ "new.txt": "new\n" })
    const next = (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
    expect((await readCheckpointFile(travel, next, "new.txt")).toString()).toBe("new\n")
  })
})

describe("what the snapshots hold", () => {
  const damages: readonly [what: string, damage: () => void][] = [
    ["a pack is gone", () => rmSync(filesLike(packs)[0] as string)],
    ["all packs are gone", () => rmSync(join(folder, "objects/pack"), { recursive: true })],
    ["an index of a pack is gone", () => rmSync(filesLike(indexes)[0] as string)],
    ["an index of a pack is a folder", () => inPlaceOf(filesLike(indexes)[0] as string)],
    ["a pack is cut short", () => truncateSync(filesLike(packs)[0] as string, 40)],
    ["an index is cut short", () => truncateSync(filesLike(indexes)[0] as string, 1_100)],
    [
      "bytes in the middle of each pack are flipped",
      () => {
        for (const path of filesLike(packs)) overwrite(path, Buffer.alloc(8, 0xa5), middle(path))
      },
    ],
    ["a ref is a folder", () => inPlaceOf(filesLike(/refs\/keepup\/checkpoints\//)[0] as string)],
    ["a ref is empty", () => truncateSync(filesLike(/refs\/keepup\/checkpoints\//)[0] as string)],
    ["all refs are gone", () => rmSync(join(folder, "refs"), { recursive: true })],
    ["the objects are gone", () => rmSync(join(folder, "objects"), { recursive: true })],
  ]

  it.each(damages)("%s: it is found, and whatever could be read can be read after a repair", async (_, damage) => {
    await damageClosed(damage)
    const before = await readAll()
    const found = await checkStore(travel, { stateDirectory: travel.stateDirectory })
    expect(found.filter(({ severity }) => severity === "error").length).toBeGreaterThan(0)
    await repairStore(travel, { stateDirectory: travel.stateDirectory })
    const after = await readAll()
    for (const [file, content] of before) expect(after.get(file), file).toBe(content)
    travel.write({ "new.txt": "new\n" })
    const next = (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
    for (const { path } of await listCheckpointFiles(travel, next)) {
      const now = readFileSync(join(travel.workspace, path))
      expect((await readCheckpointFile(travel, next, path)).equals(now), path).toBe(true)
    }
    expect((await listCheckpointFiles(travel, next)).length).toBe(4)
  })

  it("no pack is set aside because git itself can't work there", async () => {
    const before = await readAll()
    const list = filesLike(packs)
    inPlaceOf(join(folder, "HEAD"))
    const { done, left } = await repairStore(travel, { stateDirectory: travel.stateDirectory })
    expect(done).toEqual([expect.stringMatching(/could not all be mended: git can't work/)])
    expect(left.map(({ code }) => code)).toContain("snapshot-damaged")
    expect(filesLike(packs)).toEqual(list)
    await damageClosed(() => undefined)
    expect(await readAll()).toEqual(before)
  })

  it("locks of a git that is gone hold nothing up, and one in the user's repository is not ours to take", async () => {
    const index = readdirSync(folder).filter((name) => name.startsWith("index"))
    const locks = ["HEAD", "config", "index", "packed-refs", "refs/heads/latest", ...index].map(
      (name) => `${name}.lock`,
    )
    for (const name of locks) writeFileSync(join(folder, name), "")
    travel.git("init", "-q")
    const ofUser = join(travel.workspace, ".git/index.lock")
    writeFileSync(ofUser, "the user's")
    travel.write({ "a.txt": "a3\n" })
    const next = (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
    expect((await readCheckpointFile(travel, next, "a.txt")).toString()).toBe("a3\n")
    await restoreCheckpoint(travel, { checkpoint: await travel.store.checkpoints.resolve(session.id, "#1") })
    expect(readFileSync(join(travel.workspace, "a.txt"), "utf8")).toBe("a1\n")
    const kept = (await travel.store.checkpoints.list(session.id)).map(({ id }) => id)
    const snapshots = await travel.snapshots(travel.workspace)
    await snapshots.consolidate()
    await snapshots.gc(kept)
    expect([...snapshots.listCheckpoints().keys()].toSorted()).toEqual(kept.toSorted())
    expect(readFileSync(ofUser, "utf8")).toBe("the user's")
  })
})
