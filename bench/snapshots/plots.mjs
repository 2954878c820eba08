/** The two pictures: cost against the size of the tree, and cost over a thousand checkpoints. */
import { linePlot } from "../harness/plot.mjs"
import { median } from "../harness/stats.mjs"

/** k = 1 over the number of files, one line per strategy. */
export function sizePlot(byTree) {
  const trees = Object.values(byTree)
    .filter((tree) => tree.git)
    .sort((a, b) => a.files - b.files)
  const names = [...new Set(trees.flatMap((tree) => Object.keys(tree.strategies)))]
  const series = names
    .filter((name) => !name.startsWith("copy") && !name.includes("hash changed"))
    .map((name) => ({
      name,
      dash: name.startsWith("floor"),
      bold: name.startsWith("keepup"),
      points: trees
        .filter((tree) => tree.strategies[name])
        .map((tree) => [tree.files, tree.strategies[name].k1.median]),
    }))
    .sort((a, b) => Number(b.bold) - Number(a.bold))
  return linePlot({
    title: "One snapshot after one changed file",
    note: "median, git repository, same tree and same edits for everybody; bold: keepup, dashed: floors",
    x: { label: "files in the workspace", log: true },
    y: { label: "milliseconds", log: true },
    series,
  })
}

/** Time per checkpoint over their number, as medians of twenty-five. */
export function growthPlot(growth) {
  const group = Math.max(1, Math.floor(growth.count / 40))
  const series = Object.entries(growth.strategies).map(([name, row]) => {
    const points = []
    for (let i = 0; i + group <= row.times.length; i += group)
      points.push([i + group, median(row.times.slice(i, i + group))])
    return {
      name: `${name}: ${row.addedMb.toFixed(1)} MB, ${row.files} files`,
      bold: name.startsWith("keepup"),
      points,
    }
  })
  return linePlot({
    title: `${growth.count} checkpoints of small edits, ${growth.files} files`,
    note: "time per checkpoint; the legend says what they added on disk and the files of the store",
    x: { label: "checkpoints taken" },
    y: { label: "milliseconds", log: true },
    series: series.sort((a, b) => Number(b.bold) - Number(a.bold)),
  })
}
