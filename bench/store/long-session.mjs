/** Sessions of very different lengths: the last 50 messages, and a branch, must cost the same. */
import { join } from "node:path"
import { progress, table } from "../harness/report.mjs"
import { interleave } from "../harness/rounds.mjs"
import { message, openKeepup } from "./keepup.mjs"

async function fill(store, sessionId, count) {
  const batch = 5000
  for (let from = 0; from < count; from += batch) {
    const drafts = []
    for (let i = from; i < Math.min(from + batch, count); i++)
      drafts.push(message(i, `Message ${i}: a short one, as most are.`))
    await store.log.append(sessionId, drafts)
    if ((from + batch) % 100_000 === 0) progress(`long session: ${from + batch} entries`)
  }
}

export async function longSession(context) {
  const long = context.quick ? 100_000 : 1_000_000
  const keepup = await openKeepup(join(context.scratch.folder("long"), "long.db"))
  if (!keepup) return {}
  const { store } = keepup
  const short = await store.sessions.create({ workspacePath: "/bench", name: "short" })
  await fill(store, short.id, 1000)
  await fill(store, keepup.session.id, long)
  const ends = { short: await store.log.head(short.id), long: await store.log.head(keepup.session.id) }
  const check = await store.log.lastMessages(ends.long, 50)
  if (check.length !== 50) throw new Error(`expected 50 messages, got ${check.length}`)
  const last = await interleave(
    {
      "1,000 entries": () => store.log.lastMessages(ends.short, 50),
      [`${long.toLocaleString("en")} entries`]: () => store.log.lastMessages(ends.long, 50),
    },
    { rounds: 100, warmup: 10, quietEvery: 20 },
  )
  const branch = (seq) =>
    store.sessions.create({ workspacePath: "/bench", parent: { sessionId: keepup.session.id, seq } })
  const branches = await interleave(
    { "at entry 10": () => branch(10), [`at entry ${long.toLocaleString("en")}`]: () => branch(long) },
    { rounds: 60, warmup: 5, quietEvery: 20 },
  )
  // A branch is only worth something if its history reads as fast.
  const branched = await branch(long)
  const history = await store.log.lastMessages(await store.log.head(branched.id), 50)
  if (history.length !== 50) throw new Error(`expected 50 messages through a branch, got ${history.length}`)
  await keepup.close()
  context.scratch.folder("long")
  const rows = (what, { rows: list }) => {
    const [small, large] = Object.entries(list)
    return [small, large].map(([name, row]) => [`${what}, ${name}`, row.median, row.min, row.median / small[1].median])
  }
  const heads = ["what", "med ms", "min ms", "x the small one"]
  context.print(
    "Store: long sessions, store open",
    table(heads, [...rows("last 50 messages", last), ...rows("branch", branches)]),
  )
  return { entries: long, lastMessages: last.rows, branch: branches.rows }
}
