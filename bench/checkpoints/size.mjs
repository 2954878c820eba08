/** What a checkpoint of a long session takes in the database: the same turns kept with one each, and without any. */
import { statSync } from "node:fs"
import { join } from "node:path"
import { progress, table } from "../harness/report.mjs"
import { generateTree } from "../snapshots/tree.mjs"
import { createWorkspace } from "../snapshots/workspace.mjs"
import { turnState, turnText } from "../store/conversation.mjs"
import { loadKeepup, openSession, turnEntries } from "./keepup.mjs"

export async function size(context) {
  const keepup = await loadKeepup()
  if (!keepup) return {}
  const turns = context.quick ? 400 : 2_000
  const [plain, kept] = [await play(keepup, context, turns, false), await play(keepup, context, turns, true)]
  const result = {
    turns,
    withoutBytes: plain.databaseBytes,
    withBytes: kept.databaseBytes,
    averageBytes: (kept.databaseBytes - plain.databaseBytes) / turns,
    saidBytes: kept.saidBytes / turns,
  }
  const rows = [
    ["database without checkpoints, KB", result.withoutBytes / 1024],
    ["database with one each turn, KB", result.withBytes / 1024],
    ["a checkpoint on average, bytes", result.averageBytes],
    ["  what it says itself, files included", result.saidBytes],
  ]
  context.print(`Checkpoints: ${turns} turns, one changed file each`, table(["what", "value"], rows))
  return result
}

async function play(keepup, context, turns, withCheckpoints) {
  const name = `checkpoints-size-${withCheckpoints ? "with" : "without"}`
  const folder = context.scratch.folder(name)
  const root = context.scratch.folder(join(name, "workspace"))
  const workspace = createWorkspace(root, generateTree(root, 300))
  const session = await openSession(keepup, root, folder, { watch: true })
  let saidBytes = 0
  for (let turn = 1; turn <= turns; turn++) {
    const entries = turnEntries(`Turn ${turn}`, turnText(turn))
    if (withCheckpoints) {
      workspace.edit(1)
      saidBytes += (await session.take({ entries, state: turnState(turn) })).sizeBytes
    } else await session.store.log.append(session.sessionId, entries)
    if (turn % 500 === 0) progress(`${name}: turn ${turn} of ${turns}`)
  }
  await session.close() // folds the write-ahead log into the file
  return { databaseBytes: statSync(join(folder, "keepup.db")).size, saidBytes }
}
