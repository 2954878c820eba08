/** A page of 50 checkpoints of a session that has 100, and of one that has 100,000: the newest, and from the middle. */
import { flush } from "../harness/disk.mjs"
import { table } from "../harness/report.mjs"
import { interleave } from "../harness/rounds.mjs"
import { generateTree } from "../snapshots/tree.mjs"
import { turnState } from "../store/conversation.mjs"
import { loadKeepup, openSession } from "./keepup.mjs"

const page = 50

export async function list(context) {
  const keepup = await loadKeepup()
  if (!keepup) return {}
  const folder = context.scratch.folder("checkpoints-list")
  const root = context.scratch.folder("checkpoints-list/workspace")
  generateTree(root, 20)
  const session = await openSession(keepup, root, folder)
  const model = await session.take({ state: turnState(1) })
  const large = context.quick ? 10_000 : 100_000
  const contestants = {}
  for (const count of [100, large]) {
    const sessionId = await fill(keepup, session.store, model, root, count)
    const read = async (before) => {
      const found = await session.store.checkpoints.list(sessionId, { limit: page, ...(before && { before }) })
      if (found.length !== page) throw new Error(`BUG: ${found.length} checkpoints instead of ${page}`)
    }
    contestants[`newest of ${count}`] = () => read()
    contestants[`middle of ${count}`] = () => read(count / 2 + page)
  }
  flush(folder)
  const { rows, load } = await interleave(contestants, {
    rounds: context.quick ? 200 : 1_000,
    warmup: 20,
    quietEvery: 50,
  })
  await session.close()
  const body = Object.entries(rows).map(([name, row]) => [name, row.median, row.min])
  context.print(`Checkpoints: a list of ${page}`, table(["which", "med ms", "min ms"], body))
  return { large, load, rows }
}

/** Rows like that of a checkpoint that was really taken, many in one transaction: only reading them is timed. */
async function fill(keepup, store, model, workspacePath, count) {
  const { id: sessionId } = await store.sessions.create({ workspacePath, name: `${count} checkpoints` })
  const { driver, ids } = store.context
  for (let first = 1; first <= count; first += 1_000) {
    await driver.transaction("bench", async (tx) => {
      for (let number = first; number < first + 1_000 && number <= count; number++) {
        await keepup.insertCheckpoint(tx, { ...model, id: ids.next(), sessionId, number, entrySeq: number })
      }
    })
  }
  return sessionId
}
