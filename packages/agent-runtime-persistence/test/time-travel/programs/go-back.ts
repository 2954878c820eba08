/**
 * Goes back in one of several ways and dies on the way. Arguments: the folder of a fixture, the way, and the number of
 * the step to die at, `never` (says every step), or `silent` (others kill it). Says `armed` when it is ready to go.
 */
import { once } from "node:events"
import { writeSync } from "node:fs"
import { type Checkpoint, event } from "@ku0/agent-runtime-core"
import { recoverAll } from "../../../src/recovery/recover-session.js"
import { openFixture, type TimeTravelFixture } from "../../../src/testing/time-travel-fixture.js"
import { restoreCheckpoint } from "../../../src/time-travel/restore.js"
import { rewindToCheckpoint } from "../../../src/time-travel/rewind.js"
import { undoRestore } from "../../../src/time-travel/undo-restore.js"

export type Way = "files" | "conversation" | "both" | "paths" | "both-paths" | "undo" | "rewind" | "recover" | "run"

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
if (way !== "run") say({ armed: true })
try {
  say({ done: await go(way as Way, target) })
} catch (error) {
  const { code, message } = error as { code: string; message: string }
  say({ error: message, code })
}
isArmed = false
await travel.close()

async function go(chosen: Way, checkpoint: Checkpoint): Promise<unknown> {
  if (chosen === "run") return await runUntilTold(checkpoint)
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

/** Holds the session and writes to it until a line comes in. */
async function runUntilTold({ sessionId }: Checkpoint): Promise<string> {
  const { store } = travel
  const lease = await store.leases.take(`session:${sessionId}`, { purpose: "run" })
  await store.log.append(sessionId, [event("run:started", { runId: "r" })], { lease })
  say({ armed: true })
  await once(process.stdin, "data")
  await store.log.append(sessionId, [event("run:ended", { runId: "r", outcome: "completed" })], { lease })
  await lease.release()
  process.stdin.destroy()
  return "run"
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
