/**
 * The snapshots' targets. Peers are those that capture the whole workspace; "correct" is a restore without a fault in any
 * run. Verdicts are by medians; what the minima say stands beside them, for machines that are never quiet.
 */
import { number } from "../harness/report.mjs"
import { kindOf } from "./strategies.mjs"

const exact = "keepup exact"
const hints = "keepup resident (hints)"
const thousands = (files) => Number(files).toLocaleString("en")

/** The ratio of two rows, by medians, with the ratio of the minima beside it. */
function ratio(above, below) {
  if (!above || !below) return { value: null }
  return { value: above.median / below.median, unit: `x (minima ${number(above.min / below.min)} x)` }
}

const divide = (above, below) => ({ value: above === undefined || below === undefined ? null : above / below })

/** The fastest of some rows, by medians and by minima. */
function fastest(rows) {
  const there = rows.filter(Boolean)
  if (there.length === 0) return undefined
  return { median: Math.min(...there.map((row) => row.median)), min: Math.min(...there.map((row) => row.min)) }
}

const peersOf = (strategies) => Object.keys(strategies).filter((name) => kindOf(name) === "peer")

export function snapshotTargets({ incremental = {}, first = {}, restore = {}, growth = {}, memory = {} }) {
  return [
    ...incrementalTargets(Object.values(incremental).filter(({ git }) => git)),
    ...firstTargets(Object.values(first)),
    ...restoreTargets(Object.values(restore)),
    ...growthTargets(Object.values(growth)[0]),
    ...memoryTargets(memory),
  ]
}

function incrementalTargets(trees) {
  const small = trees.find(({ files }) => files <= 3000)
  return trees
    .filter((tree) => tree !== small)
    .flatMap((tree) => {
      const k1 = (name) => tree.strategies[name]?.k1
      const size = `k=1, ${thousands(tree.files)} files`
      const walk = fastest(
        Object.keys(tree.strategies)
          .filter((name) => name.includes("lstat"))
          .map(k1),
      )
      const slower = (name, atLeast) => ({
        what: `${size}, exact: ${name} takes longer by`,
        limit: `at least ${atLeast} x`,
        atLeast,
        ...ratio(k1(name), k1(exact)),
      })
      const own = k1(hints)
      const lines = [
        slower("opencode", 2),
        slower("roo", 3),
        slower("gemini", 3),
        { what: `${size}, exact, against the lstat walk`, limit: "at most 4 x", atMost: 4, ...ratio(k1(exact), walk) },
        {
          what: `${size}, hints`,
          limit: "under 10 ms",
          atMost: 10,
          value: own?.median ?? null,
          unit: `ms (lower tenth ${number(own?.quiet)} ms)`,
        },
        {
          what: `${size}, hints, against 3,000 files`,
          limit: "at most 2 x",
          atMost: 2,
          ...ratio(own, small?.strategies[hints]?.k1),
        },
      ]
      if (tree.files < 100_000) return lines
      const peer = fastest(peersOf(tree.strategies).map(k1))
      const what = `${size}, hints: the fastest peer takes longer by`
      return [...lines, { what, limit: "at least 40 x", atLeast: 40, ...ratio(peer, own) }]
    })
}

function firstTargets(trees) {
  return trees.flatMap(({ files, git, strategies }) => {
    const size = `first snapshot, ${thousands(files)} files`
    const own = strategies[exact]
    if (!git) {
      const peer = fastest(peersOf(strategies).map((name) => strategies[name]))
      const what = `${size} without git: the fastest peer takes longer by`
      return [{ what, limit: "at least 1 x", atLeast: 1, ...ratio(peer, own) }]
    }
    if (files <= 3000) return []
    const slower = (name) => ({
      what: `${size} in git: ${name} takes longer by`,
      limit: "at least 20 x",
      atLeast: 20,
      ...ratio(strategies[name], own),
    })
    return [
      { what: `${size} in git, against opencode`, limit: "at most 1 x", atMost: 1, ...ratio(own, strategies.opencode) },
      slower("roo"),
      slower("gemini"),
    ]
  })
}

function restoreTargets(trees) {
  const faultless = (row) => (row && row.wrong + row.left === 0 ? row : undefined)
  return trees
    .filter(({ files }) => files > 3000 || trees.length === 1)
    .flatMap(({ files, strategies }) =>
      ["k1", "k50"].flatMap((k) => {
        const at = (name) => faultless(strategies[name]?.[k])
        const peer = fastest(peersOf(strategies).map(at))
        const what = `restore, k=${k.slice(1)}, ${thousands(files)} files: the fastest correct peer takes longer than`
        return [
          { what: `${what} the exact scan by`, limit: "at least 1.5 x", atLeast: 1.5, ...ratio(peer, at(exact)) },
          { what: `${what} hints by`, limit: "at least 5 x", atLeast: 5, ...ratio(peer, at(hints)) },
        ]
      }),
    )
}

function growthTargets(growth) {
  if (!growth) return []
  const peers = Object.values(growth.strategies).filter(({ kind }) => kind === "peer")
  const best = Math.min(...peers.map(({ addedMb }) => addedMb))
  return [exact, hints].flatMap((name) => {
    const row = growth.strategies[name]
    const what = `${growth.count} checkpoints, ${name.slice(7)}`
    return [
      {
        what: `${what}: disk added, against the best peer`,
        limit: "at most 0.25 x",
        atMost: 0.25,
        ...divide(row?.addedMb, best),
      },
      {
        what: `${what}: files in the store at the end`,
        limit: "under 50",
        atMost: 49,
        value: row?.files ?? null,
        unit: `files (at most ${row?.mostFiles} on the way)`,
      },
      {
        what: `${what}: last 100 against first 100`,
        limit: "as fast (at most 1.1 x)",
        atMost: 1.1,
        ...divide(row?.last100, row?.first100),
      },
    ]
  })
}

function memoryTargets(memory) {
  return Object.entries(memory).flatMap(([tree, parts]) =>
    Object.entries(parts)
      .filter(([name]) => name.includes("snapshot"))
      .map(([name, { peakMb, anonymousMb }]) => ({
        what: `memory, ${tree} files, ${name}`,
        limit: "under 200 MB",
        atMost: 200,
        unit: `MB (${number(anonymousMb)} MB without mapped files)`,
        value: peakMb,
      })),
  )
}
