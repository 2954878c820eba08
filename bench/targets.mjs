/** What must be reached, line by line, against what was measured in one run. Ratios only where both sides ran. */
import { agentTargets } from "./agent/targets.mjs"
import { chatTargets } from "./chat/targets.mjs"
import { checkpointTargets } from "./checkpoints/targets.mjs"
import { cliTargets } from "./cli/targets.mjs"
import { coworkTargets } from "./cowork/targets.mjs"
import { number, table } from "./harness/report.mjs"
import { snapshotTargets } from "./snapshots/targets.mjs"
import { storeTargets } from "./store/targets.mjs"

/**
 * Each target is `{what, limit, atMost | atLeast, value}`; `value` is null when the run did not measure it.
 * @returns a table that says reached or not reached for every line, and nothing nicer than that
 */
export function judge(results) {
  const targets = [
    ...storeTargets(results.store ?? {}),
    ...snapshotTargets(results.snapshots ?? {}),
    ...checkpointTargets(results.checkpoints ?? {}),
    ...agentTargets(results.agent ?? {}),
    ...cliTargets(results.cli ?? {}),
    ...chatTargets(results.chat ?? {}),
    ...coworkTargets(results.cowork ?? {}),
  ]
  const measured = targets.filter(({ value }) => value !== null && value !== undefined && Number.isFinite(value))
  if (measured.length === 0) return { title: "", body: "" }
  const rows = targets.map((target) => [target.what, target.limit, format(target), verdict(target)])
  const reached = measured.filter(isReached).length
  const scale = results.quick ? "; a quick run: smaller trees and fewer turns than the targets speak of" : ""
  return {
    title: `Must reach: ${reached} of ${measured.length} measured lines reached${scale}`,
    body: table(["what", "must be", "measured", "verdict"], rows),
  }
}

function isReached({ value, atMost, atLeast }) {
  return (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast)
}

function verdict(target) {
  if (!Number.isFinite(target.value ?? Number.NaN)) return "not measured"
  return isReached(target) ? "reached" : "NOT REACHED"
}

function format({ value, unit = "x" }) {
  return Number.isFinite(value ?? Number.NaN) ? `${number(value)} ${unit}` : "-"
}
