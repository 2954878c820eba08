/** A process that works on a snapshot store and dies where it is told to. Started by the slow tests. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { openSnapshotStore } from "../../src/snapshot/snapshot-store.js"

export interface ChildOrder {
  readonly root: string
  readonly state: string
  readonly home: string
  readonly path: string
  readonly action: "capture" | "restore" | "consolidate" | "gc" | "loop" | "swing"
  /** A checkpoint id, a commit, a prefix of ids, or two commits to go back and forth between. */
  readonly argument: string
  readonly keep?: readonly string[]
  readonly dieAt?: { readonly step: string; readonly visit: number }
}

const order: ChildOrder = JSON.parse(process.argv[2] as string)
let visits = 0
const store = await openSnapshotStore({
  workspacePath: order.root,
  stateDirectory: order.state,
  homeDirectory: order.home,
  environment: { PATH: order.path },
  clock: { now: () => Date.now() },
  onStep(name) {
    if (order.action === "swing" && name === "restore:noted") report("noted")
    if (order.dieAt?.step !== name || ++visits < order.dieAt.visit) return
    process.kill(process.pid, "SIGKILL")
    for (;;); // until the signal arrives
  },
})
if (order.action === "capture") report((await store.capture({ message: "x", checkpointId: order.argument })).commit)
else if (order.action === "restore") await store.restore(order.argument)
else if (order.action === "consolidate") await store.consolidate()
else if (order.action === "gc") await store.gc(order.keep ?? [])
else if (order.action === "swing") await swing()
else await loop()
await store.close()

/** Edits, snapshots and housekeeping until somebody kills us; each line names a snapshot that was acknowledged. */
async function loop(): Promise<void> {
  for (let i = 0; i < 40; i++) {
    writeFileSync(join(order.root, `${order.argument}.txt`), `${order.argument} ${i}\n`.repeat(50))
    const { commit } = await store.capture({ message: `${i}`, checkpointId: `${order.argument}-${i}` })
    report(`${order.argument}-${i} ${commit} ${i}`)
    if (i % 7 === 6) await store.consolidate()
  }
}

/** One restore after the other until somebody kills us; each says when it begins to change files. */
async function swing(): Promise<void> {
  for (let i = 0; i < 500; i++) await store.restore(order.argument.split(" ")[i % 2] as string)
}

function report(line: string): void {
  writeFileSync(1, `${line}\n`)
}
