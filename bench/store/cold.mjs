/** Opening the store and appending one entry from a cold process, against an empty node. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { bundle } from "../harness/build.mjs"
import { runNode } from "../harness/process.mjs"
import { table } from "../harness/report.mjs"
import { interleave } from "../harness/rounds.mjs"
import { openKeepup } from "./keepup.mjs"

export async function cold(context) {
  const folder = context.scratch.folder("cold")
  const file = join(folder, "cold.db")
  const keepup = await openKeepup(file)
  if (!keepup) return {}
  const sessionId = keepup.session.id
  await keepup.close()
  const esm = await bundle("store/cold-child.ts", "esm", { minify: true })
  const cjs = await bundle("store/cold-child.ts", "cjs", { minify: true })
  writeFileSync(join(folder, "empty.cjs"), "")
  writeFileSync(join(folder, "empty.mjs"), "")
  const { rows } = await interleave(
    {
      "node -e 0": () => runNode(["-e", "0"]),
      "node empty.cjs": () => runNode([join(folder, "empty.cjs")]),
      "node empty.mjs": () => runNode([join(folder, "empty.mjs")]),
      "keepup, CommonJS bundle": () => runNode([cjs, file, sessionId]),
      "keepup, ES module bundle": () => runNode([esm, file, sessionId]),
    },
    { rounds: context.quick ? 10 : 40, warmup: 2 },
  )
  const base = rows["node -e 0"]
  const body = Object.entries(rows).map(([name, row]) => [
    name,
    row.median,
    row.min,
    row.median / base.median,
    row.min / base.min,
  ])
  context.print(
    "Store: one entry from a cold process",
    table(["program", "med ms", "min ms", "x node -e 0 (med)", "x (min)"], body),
  )
  return rows
}
