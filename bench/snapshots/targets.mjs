/** The snapshots' targets. Peers are those that capture the whole workspace; "correct" is a restore without a fault in any run. */
import { kindOf } from "./strategies.mjs"

const exact = "keepup exact"
const hints = "keepup resident (hints)"
const divide = (above, below) => (above === undefined || below === undefined ? null : above / below)
const least = (values) => (values.length === 0 ? undefined : Math.min(...values))
const thousands = (files) => Number(files).toLocaleString("en")

export function snapshotTargets({ incremental = {}, first = {}, restore = {}, growth = {}, memory = {} }) {
  if (![incremental, first, restore, growth, memory].some((part) => Object.keys(part).length > 0)) return []
  return [
    ...incrementalTargets(Object.values(incremental).filter(({ git }) => git)),
    ...firstTargets(Object.values(first)),
    ...restoreTargets(Object.values(restore)),
    ...growthTargets(Object.values(growth)[0]),
    ...memoryTargets(memory),
  ]
}

function incrementalTargets(trees) {
  const k1 = (tree, name) => tree?.strategies[name]?.k1.median
  const peers = (tree) => Object.keys(tree.strategies).filter((name) => kindOf(name) === "peer")
  const small = trees.find(({ files }) => files <= 3000)
  return trees
    .filter((tree) => tree !== small)
    .flatMap((tree) => {
      const size = `k=1, ${thousands(tree.files)} files`
      const walk = least(
        Object.keys(tree.strategies)
          .filter((name) => name.includes("lstat"))
          .map((name) => k1(tree, name)),
      )
      const fastest = least(peers(tree).map((name) => k1(tree, name)))
      return [
        {
          what: `${size}, exact: opencode takes longer by`,
          limit: "at least 2 x",
          atLeast: 2,
          value: divide(k1(tree, "opencode"), k1(tree, exact)),
        },
        {
          what: `${size}, exact: roo takes longer by`,
          limit: "at least 3 x",
          atLeast: 3,
          value: divide(k1(tree, "roo"), k1(tree, exact)),
        },
        {
          what: `${size}, exact: gemini takes longer by`,
          limit: "at least 3 x",
          atLeast: 3,
          value: divide(k1(tree, "gemini"), k1(tree, exact)),
        },
        {
          what: `${size}, exact, against the lstat walk`,
          limit: "at most 4 x",
          atMost: 4,
          value: divide(k1(tree, exact), walk),
        },
        { what: `${size}, hints`, limit: "under 10 ms", atMost: 10, unit: "ms", value: k1(tree, hints) },
        {
          what: `${size}, hints, against 3,000 files`,
          limit: "at most 2 x",
          atMost: 2,
          value: divide(k1(tree, hints), k1(small, hints)),
        },
        ...(tree.files >= 100_000
          ? [
              {
                what: `${size}, hints: the fastest peer takes longer by`,
                limit: "at least 40 x",
                atLeast: 40,
                value: divide(fastest, k1(tree, hints)),
              },
            ]
          : []),
      ]
    })
}

function firstTargets(trees) {
  return trees.flatMap((tree) => {
    const at = (name) => tree.strategies[name]?.median
    const size = `first snapshot, ${thousands(tree.files)} files`
    if (!tree.git) {
      const peers = Object.keys(tree.strategies).filter((name) => kindOf(name) === "peer")
      return [
        {
          what: `${size} without git: the fastest peer takes longer by`,
          limit: "at least 1 x",
          atLeast: 1,
          value: divide(least(peers.map(at)), at(exact)),
        },
      ]
    }
    if (tree.files <= 3000) return []
    return [
      {
        what: `${size} in git, against opencode`,
        limit: "at most 1 x",
        atMost: 1,
        value: divide(at(exact), at("opencode")),
      },
      {
        what: `${size} in git: roo takes longer by`,
        limit: "at least 20 x",
        atLeast: 20,
        value: divide(at("roo"), at(exact)),
      },
      {
        what: `${size} in git: gemini takes longer by`,
        limit: "at least 20 x",
        atLeast: 20,
        value: divide(at("gemini"), at(exact)),
      },
    ]
  })
}

function restoreTargets(trees) {
  return trees
    .filter(({ files }) => files > 3000 || trees.length === 1)
    .flatMap((tree) =>
      ["k1", "k50"].flatMap((k) => {
        const rows = Object.entries(tree.strategies)
        const correct = rows.filter(([name, row]) => kindOf(name) === "peer" && row[k].wrong + row[k].left === 0)
        const fastest = least(correct.map(([, row]) => row[k].median))
        const own = (name) => {
          const row = tree.strategies[name]?.[k]
          return row && row.wrong + row.left === 0 ? row.median : undefined
        }
        const what = `restore, k=${k.slice(1)}, ${thousands(tree.files)} files: the fastest correct peer takes longer than`
        return [
          {
            what: `${what} the exact scan by`,
            limit: "at least 1.5 x",
            atLeast: 1.5,
            value: divide(fastest, own(exact)),
          },
          { what: `${what} hints by`, limit: "at least 5 x", atLeast: 5, value: divide(fastest, own(hints)) },
        ]
      }),
    )
}

function growthTargets(growth) {
  if (!growth) return []
  const rows = Object.values(growth.strategies)
  const best = least(rows.filter(({ kind }) => kind === "peer").map(({ addedMb }) => addedMb))
  return [exact, hints].flatMap((name) => {
    const row = growth.strategies[name]
    const what = `${growth.count} checkpoints, ${name.slice(7)}`
    return [
      {
        what: `${what}: disk added, against the best peer`,
        limit: "at most 0.25 x",
        atMost: 0.25,
        value: divide(row?.addedMb, best),
      },
      { what: `${what}: files in the store`, limit: "under 50", atMost: 49, unit: "files", value: row?.files ?? null },
      {
        what: `${what}: last 100 against first 100`,
        limit: "as fast (at most 1.1 x)",
        atMost: 1.1,
        value: divide(row?.last100, row?.first100),
      },
    ]
  })
}

function memoryTargets(memory) {
  return Object.entries(memory).flatMap(([tree, parts]) =>
    Object.entries(parts)
      .filter(([name]) => name.includes("snapshot"))
      .map(([name, { peakMb }]) => ({
        what: `memory, ${tree} files, ${name}`,
        limit: "under 200 MB",
        atMost: 200,
        unit: "MB",
        value: peakMb,
      })),
  )
}
