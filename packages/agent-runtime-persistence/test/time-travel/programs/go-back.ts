/**
 * Goes back in one of several ways and dies on the way. Arguments: the folder of a fixture, the way, and the number of
 * the step to die at, `never` (says every step), or `silent` (others kill it). Says `armed` when it is ready to go.
 */
import { writeSync } from "node:fs"
import type { Checkpoint } from "@ku0/agent-runtime-core"
import { recoverAll } from "../../../src/recovery/recover-session.js"
import { openFixture, type TimeTravelFixture } from "../../../src/testing/time-travel-fixture.js"
import { restoreCheckpoint } from "../../../src/time-travel/restore.js"
import { rewindToCheckpoint } from "../../../src/time-travel/rewind.js"
import { undoRestore } from "../../../src/time-travel/undo-restore.js"

export type Way = "files" | "conversation" | "both" | "paths" | "both-paths" | "undo" | "rewind" | "recover"

export const chosenPaths = ["deep", "a.txt", "file-to-dir", "dir-to-file", "empty", "new"]

export type Said = { armed: true } | { step: string } | { done: unknown } | { error: string; code: string }

const [root = "", way = "both", dieAt = "never"] = process.argv.slice(2)
let isArmed = false
let steps = 0
const travel = await openFixture({
  root,
  onStep(step) {
    if (!isArmed) return
    steps++
    if (dieAt === "never") say({ step })
    else if (steps === Number(dieAt)) process.kill(process.pid, "SIGKILL")
  },
})
const target = await findTarget(travel)
if (way !== "recover") await travel.snapshots(travel.workspace)
isArmed = true
say({ armed: true })
try {
  say({ done: await go(way as Way, target) })
} catch (error) {
  const { code, message } = error as { code: string; message: string }
  say({ error: message, code })
}
isArmed = false
await travel.close()

async function go(chosen: Way, checkpoint: Checkpoint): Promise<unknown> {
  if (chosen === "recover") {
    const { restores } = await recoverAll(travel)
    return restores.map(({ outcome }) => outcome)
  }
  if (chosen === "undo") return (await undoRestore(travel, { workspacePath: travel.workspace })).restore
  if (chosen === "rewind") return (await rewindToCheckpoint(travel, { checkpoint })).restore
  const mode = chosen === "paths" ? "files" : chosen === "both-paths" ? "both" : chosen
  const paths = chosen.endsWith("paths") ? { paths: chosenPaths } : {}
  return (await restoreCheckpoint(travel, { checkpoint, mode, ...paths })).restore
}

/** The oldest checkpoint of the oldest session. */
async function findTarget({ store }: TimeTravelFixture): Promise<Checkpoint> {
  const session = (await store.sessions.list()).at(-1)
  if (session === undefined) throw new Error("BUG: no session")
  return await store.checkpoints.resolve(session.id, "#1")
}

function say(line: Said): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at)
}
