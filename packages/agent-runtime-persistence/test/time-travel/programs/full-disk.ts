/**
 * Restores on a disk that runs full on the way, with more room left each time, and says how that went: what the caller
 * heard, what was there then, and what the next start made of it. Argument: a folder on a small disk of its own.
 */
import { randomBytes } from "node:crypto"
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { isDeepStrictEqual } from "node:util"
import type { Checkpoint } from "@ku0/agent-runtime-core"
import { checkStore } from "../../../src/recovery/check-store.js"
import { recoverAll } from "../../../src/recovery/recover-session.js"
import { user } from "../../../src/testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../../../src/testing/time-travel-fixture.js"
import { restoreCheckpoint } from "../../../src/time-travel/restore.js"
import { undoRestore } from "../../../src/time-travel/undo-restore.js"
import { describeScene } from "../crash-stage.js"

export interface FullDiskSaid {
  /** Room that was left, in KB. */
  readonly room: number
  /** `done`, or the code of the error. */
  readonly heard: string
  readonly message: string
  /** Whether everything is as before, right then and after the next start. */
  readonly asBefore: readonly [then: boolean, after: boolean]
  readonly outcomes: readonly string[]
  readonly findings: readonly string[]
  readonly again: boolean
}

const [folder = ""] = process.argv.slice(2)
const root = join(folder, "root")
const filler = join(folder, "filler")
mkdirSync(root)
const travel = await openFixture({ root })
const target = await tellHistory(travel)
for (let room = 0; room <= 2_000; room += 100) await attempt(room)
await travel.close()

async function attempt(room: number): Promise<void> {
  const before = await describeScene(travel)
  await wait(50) // what the last restore replaced is freed beside it, and would make room
  fillBut(room * 1024)
  const [heard, message] = await restoreCheckpoint(travel, { checkpoint: target }).then(
    () => ["done", ""] as const,
    (error: { code?: string; message: string }) => [error.code ?? "no code", error.message] as const,
  )
  const asThen = heard === "done" ? false : isDeepStrictEqual((await describeScene(travel)).files, before.files)
  rmSync(filler, { force: true })
  const { restores } = await recoverAll(travel)
  const asAfter = isDeepStrictEqual(await describeScene(travel), before)
  // a write that had no room leaves its beginning behind, and a snapshot nobody came to need
  const expected = ["ref-unowned", "log-cut"]
  const findings = (await checkStore(travel)).filter(({ code }) => !expected.includes(code)).map(({ what }) => what)
  if (asAfter) await restoreCheckpoint(travel, { checkpoint: target })
  await undoRestore(travel, { workspacePath: travel.workspace })
  const again = isDeepStrictEqual(await describeScene(travel), before)
  say({
    ...{ room, heard, message, asBefore: [asThen, asAfter], findings, again },
    outcomes: restores.map(({ outcome }) => outcome),
  })
}

async function tellHistory({ workspace, manager, store, createSession }: TimeTravelFixture): Promise<Checkpoint> {
  for (let i = 0; i < 12; i++) writeFileSync(join(workspace, `file-${i}.bin`), randomBytes(100_000))
  const session = await createSession()
  await store.log.append(session.id, [user("first")])
  const checkpoint = (await manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
  for (let i = 0; i < 12; i++) writeFileSync(join(workspace, `file-${i}.bin`), `small ${i}`)
  writeFileSync(join(workspace, "new.txt"), "new")
  await store.log.append(session.id, [user("second")])
  return checkpoint
}

/** Leaves only so many bytes on the disk. */
function fillBut(bytes: number): void {
  const handle = openSync(filler, "w")
  try {
    const chunk = Buffer.alloc(64 * 1024, 1)
    for (;;) {
      const { bavail, bsize } = statfsSync(folder)
      const left = bavail * bsize - bytes
      if (left < bsize) return
      writeSync(handle, chunk, 0, Math.min(chunk.length, left))
    }
  } finally {
    closeSync(handle)
  }
}

function say(line: FullDiskSaid): void {
  const text = Buffer.from(`${JSON.stringify(line)}\n`)
  for (let at = 0; at < text.length; ) at += writeSync(1, text, at)
}
