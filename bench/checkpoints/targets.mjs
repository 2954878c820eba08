/** The checkpoints' targets. Verdicts are by medians; what the minima say stands beside them. */
import { number } from "../harness/report.mjs"

function ratio(above, below) {
  if (!above || !below) return { value: null }
  return { value: above.median / below.median, unit: `x (minima ${number(above.min / below.min)} x)` }
}

const atMost = (limit) => ({ limit: `at most ${limit} x`, atMost: limit })

export function checkpointTargets({ take, list, restore, size }) {
  return [...takeTargets(take), ...listTargets(list), ...restoreTargets(restore), ...sizeTargets(size)]
}

function takeTargets(take) {
  if (!take?.rows) return []
  return ["exact", "watched"].map((how) => ({
    what: `a checkpoint with 1 changed file of 1,000, against the snapshot alone (${how})`,
    ...atMost(1.5),
    ...ratio(take.rows[`checkpoint, ${how}`], take.rows[`snapshot, ${how}`]),
  }))
}

function listTargets(list) {
  if (!list?.rows) return []
  const many = list.large.toLocaleString("en")
  return ["newest", "middle"].map((which) => ({
    what: `a list of 50 out of ${many} checkpoints (${which}), against 100`,
    ...atMost(2),
    ...ratio(list.rows[`${which} of ${list.large}`], list.rows[`${which} of 100`]),
  }))
}

function restoreTargets(restore) {
  return Object.entries(restore ?? {}).flatMap(([k, { rows }]) => {
    const git = rows["git checkout, no fsync"]
    const [alone, withSafety] = k === "k10" ? [2, 2.5] : [1, 1.5]
    const files = Number(k.slice(1)).toLocaleString("en")
    return ["changes captured before", "changes never captured"].flatMap((which) => [
      {
        what: `durable restore of ${files} files (${which}), against git checkout without fsync`,
        ...atMost(alone),
        ...ratio(rows[`keepup, ${which}, safety not counted`], git),
      },
      { what: "  with the safety checkpoint", ...atMost(withSafety), ...ratio(rows[`keepup, ${which}`], git) },
    ])
  })
}

function sizeTargets(size) {
  if (!size?.turns) return []
  return [
    {
      what: `average checkpoint of ${size.turns.toLocaleString("en")} turns, files not counted`,
      limit: "under 5 KB",
      atMost: 5 * 1024 - 1,
      unit: "bytes",
      value: size.averageBytes,
    },
  ]
}
