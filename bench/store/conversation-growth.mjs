/** A conversation that grows turn by turn, with a checkpoint record each turn: keepup, the floor, LangGraph's saver. */
import { join } from "node:path"
import { freeGigabytes } from "../harness/disk.mjs"
import { waitForQuiet } from "../harness/quiet.mjs"
import { progress, table } from "../harness/report.mjs"
import { growth, median, min } from "../harness/stats.mjs"
import { turnBytes, turnState, turnText } from "./conversation.mjs"
import { databaseSize, openFloor } from "./floor.mjs"
import { openKeepup } from "./keepup.mjs"
import { openLangGraph } from "./langgraph.mjs"

export async function conversation(context) {
  const turns = context.quick ? 300 : 2000
  const block = context.quick ? 50 : 100
  const folder = context.scratch.folder("conversation")
  const need = (turns * turns * turnBytes) / 2 / 2 ** 30 + 2
  if (freeGigabytes(folder) < need)
    throw new Error(`LangGraph's saver needs about ${need.toFixed(1)} GB free in ${folder}`)
  const file = (name) => join(folder, `${name}.db`)
  const floor = openFloor(file("floor"))
  const twoCalls = await openKeepup(file("two-calls"))
  const oneCall = await openKeepup(file("one-call"))
  const langgraph = openLangGraph(file("langgraph"))
  const times = { floor: [], ...(twoCalls ? { "keepup, two calls": [], "keepup, one call": [] } : {}), langgraph: [] }
  const contestants = {
    floor: (...turn) => floor.turn(...turn),
    "keepup, two calls": (...turn) => twoCalls.turn(...turn),
    "keepup, one call": (...turn) => oneCall.step(...turn),
  }
  const names = Object.keys(times).filter((name) => name !== "langgraph")
  for (let number = 0; number < turns; number++) {
    if (number % 50 === 0) await waitForQuiet()
    const [text, state] = [turnText(number), turnState(number)]
    for (let i = 0; i < names.length; i++) {
      const name = names[(number + i) % names.length]
      const start = performance.now()
      await contestants[name](number, text, state)
      times[name].push(performance.now() - start)
    }
  }
  progress(`conversation: ${turns} turns by ${names.join(", ")}`)
  // Afterwards and in a process of its own: its gigabytes would slow everybody else's fsync.
  for (let from = 0; from < turns; from += block) {
    times.langgraph.push(...(await langgraph.turns(from, from + block)))
    if ((from + block) % 500 === 0) progress(`conversation: ${from + block} turns by langgraph`)
  }
  const result = { turns, plainTextBytes: turns * turnBytes, contestants: {} }
  for (const close of [floor.close, twoCalls?.close, oneCall?.close, langgraph.close]) await close?.()
  const files = {
    floor: "floor",
    "keepup, two calls": "two-calls",
    "keepup, one call": "one-call",
    langgraph: "langgraph",
  }
  for (const [name, list] of Object.entries(times)) {
    const last = list.slice(-Math.min(100, block))
    result.contestants[name] = {
      atEnd: { median: median(last), min: min(last) },
      growth: growth(list),
      databaseBytes: databaseSize(file(files[name])),
    }
  }
  const base = result.contestants.floor
  for (const row of Object.values(result.contestants)) row.growthAgainstFloor = row.growth.ratio / base.growth.ratio
  const rows = Object.entries(result.contestants).map(([name, row]) => [
    name,
    row.atEnd.median,
    row.atEnd.min,
    row.atEnd.median / base.atEnd.median,
    row.growth.ratio,
    row.growthAgainstFloor,
    row.databaseBytes / 2 ** 20,
    row.databaseBytes / result.plainTextBytes,
  ])
  const heads = [
    "contestant",
    "med ms",
    "min ms",
    "x floor",
    "last/first tenth",
    "the same x floor",
    "database MB",
    "x plain text",
  ]
  context.print(
    `Store: one turn of 2 KB and a checkpoint record, at turn ${turns} (median of the last 100)`,
    table(heads, rows),
  )
  context.scratch.folder("conversation")
  return result
}
