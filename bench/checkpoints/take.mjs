/** A checkpoint with one changed file in 1,000, all parts included, against the snapshot alone; with a watcher and without. */
import { join } from "node:path"
import { flush } from "../harness/disk.mjs"
import { table } from "../harness/report.mjs"
import { interleave } from "../harness/rounds.mjs"
import { makeRepository } from "../snapshots/git.mjs"
import { storeOptions } from "../snapshots/keepup.mjs"
import { generateTree } from "../snapshots/tree.mjs"
import { createWorkspace } from "../snapshots/workspace.mjs"
import { turnState, turnText } from "../store/conversation.mjs"
import { loadKeepup, openSession, turnEntries } from "./keepup.mjs"

const fileCount = 1_000

export async function take(context) {
  const keepup = await loadKeepup()
  if (!keepup) return {}
  const folder = context.scratch.folder("checkpoints-take")
  const members = {}
  for (const watch of [false, true]) {
    const how = watch ? "watched" : "exact"
    members[`snapshot, ${how}`] = await startSnapshots(keepup, context, join(folder, `snapshot-${how}`), watch)
    members[`checkpoint, ${how}`] = await startCheckpoints(keepup, context, join(folder, `checkpoint-${how}`), watch)
  }
  const { rows, load } = await interleave(
    Object.fromEntries(Object.entries(members).map(([name, { step }]) => [name, step])),
    {
      rounds: context.quick ? 40 : 200,
      warmup: 5,
      quietEvery: 5,
      before(name) {
        members[name].workspace.edit(1)
        flush(folder)
      },
    },
  )
  for (const { close } of Object.values(members)) await close()
  const body = Object.entries(rows).map(([name, row]) => [name, row.median, row.min, row.p90])
  const title = `Checkpoints: one changed file of ${fileCount.toLocaleString("en")}`
  context.print(title, table(["what", "med ms", "min ms", "p90 ms"], body))
  return { files: fileCount, load, rows }
}

async function prepare(context, folder) {
  const root = context.scratch.folder(join("checkpoints-take", folder.split("/").at(-1), "workspace"))
  const workspace = createWorkspace(root, generateTree(root, fileCount))
  await makeRepository(root)
  return workspace
}

async function startSnapshots(keepup, context, folder, watch) {
  const workspace = await prepare(context, folder)
  const store = await keepup.openSnapshotStore(storeOptions(workspace.root, folder))
  if (watch && !(await store.watch())) throw new Error("This system can't watch files.")
  let number = 0
  const step = () => store.capture({ message: "turn.ended", checkpointId: `bench-${++number}`, share: true })
  await step()
  return { workspace, step, close: () => store.close() }
}

async function startCheckpoints(keepup, context, folder, watch) {
  const workspace = await prepare(context, folder)
  const session = await openSession(keepup, workspace.root, folder, { watch })
  let turn = 0
  const step = () => {
    turn++
    const entries = turnEntries(`Turn ${turn}`, turnText(turn))
    return session.take({ entries, state: turnState(turn) })
  }
  await step()
  return { workspace, step, close: session.close }
}
