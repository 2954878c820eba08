/**
 * Does one thing after the other to a workspace and its session, at random, beside others that do the same. Arguments:
 * the folder of a fixture, a name, and how many things to do. Says every checkpoint it was promised or took away.
 */
import { writeSync } from "node:fs"
import { type Checkpoint, event, isKeepupError } from "@ku0/agent-runtime-core"
import { recoverAll } from "../../../src/recovery/recover-session.js"
import { openFixture } from "../../../src/testing/time-travel-fixture.js"
import { restoreCheckpoint } from "../../../src/time-travel/restore.js"
import { rewindToCheckpoint } from "../../../src/time-travel/rewind.js"
import { undoRestore } from "../../../src/time-travel/undo-restore.js"

export type CompanySaid =
  | { readonly kept: string; readonly number: number }
  | { readonly removed: readonly string[] }
  | { readonly did: string }
  | { readonly refused: string; readonly code: string; readonly message: string }

const [root = "", name = "", count = "0"] = process.argv.slice(2)
const travel = await openFixture({ root })
const { store, manager, workspace } = travel
await recoverAll(travel)
const sessionId = ((await store.sessions.list()).at(-1) as { id: Checkpoint["sessionId"] }).id
const snapshots = await travel.snapshots(workspace)

const things: Record<string, () => Promise<CompanySaid | undefined>> = {
  async take() {
    travel.write({ [`${name}.txt`]: String(Math.random()), [`${name}/${pick(5)}.txt`]: "x".repeat(pick(9_000)) })
    const message = event("message:added", { message: { role: "user", content: name } })
    const kept = await manager.take({
      sessionId,
      trigger: "turn.ended",
      entries: [message],
      state: { [name]: pick(9) },
    })
    return { kept: (kept as Checkpoint).id, number: (kept as Checkpoint).number }
  },
  async prune() {
    return { removed: (await manager.prune(sessionId, { keep: 4 })).removed.map(({ id }) => id) }
  },
  /** A snapshot of long ago that no record names: the next collection takes it away. */
  async litter() {
    travel.write({ [`litter-${name}.txt`]: String(Math.random()) })
    const random = () =>
      Math.floor(Math.random() * 0x1_0000_0000)
        .toString(16)
        .padStart(8, "0")
    const checkpointId = `01000000-0000-7000-8000-0000${random()}`
    await snapshots.capture({ message: "litter", checkpointId, share: true })
    return undefined
  },
  async collect() {
    const rows = await store.context.driver.all("SELECT id FROM session_checkpoints")
    await snapshots.gc(rows.map(({ id }) => id as string))
    return undefined
  },
  async restore() {
    const list = await store.checkpoints.list(sessionId, { limit: 8 })
    const mode = (["files", "both", "conversation"] as const)[pick(3)] as "files"
    await restoreCheckpoint(travel, { checkpoint: list[pick(list.length)] as Checkpoint, mode })
    return undefined
  },
  async undo() {
    await undoRestore(travel, { workspacePath: workspace })
    return undefined
  },
  async rewind() {
    const list = await store.checkpoints.list(sessionId, { limit: 8 })
    await rewindToCheckpoint(travel, { checkpoint: list[pick(list.length)] as Checkpoint })
    return undefined
  },
}

const often = ["take", "take", "take", "prune", "litter", "collect", "restore", "restore", "undo", "rewind"]
for (let i = 0; i < Number(count); i++) {
  const thing = often[pick(often.length)] as string
  try {
    say((await things[thing]?.()) ?? { did: thing })
  } catch (error) {
    if (!isKeepupError(error)) throw error
    say({ refused: thing, code: error.code, message: error.message })
  }
}
await travel.close()

function pick(many: number): number {
  return Math.floor(Math.random() * many)
}

function say(line: CompanySaid): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}
