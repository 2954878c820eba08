/** A thousand checkpoints of one to three small edits each: disk, number of files, and whether the last are as fast as the first. */
import { flush } from "../harness/disk.mjs"
import { waitForQuiet } from "../harness/quiet.mjs"
import { progress, table } from "../harness/report.mjs"
import { growth as grow, median } from "../harness/stats.mjs"
import { diskOf, gather } from "./members.mjs"
import { isInUserRepository } from "./strategies.mjs"

export async function growth(context, tree) {
  const count = context.quick ? 100 : 1000
  // Old Cline writes what Roo writes; copies of edited files are no snapshots of a workspace.
  const left = (await gather(context, tree)).filter(({ name, kind }) => name !== "cline-old" && kind !== "partial")
  const able = left.filter(({ name }) => !isInUserRepository(name))
  // Everybody starts packed, so that housekeeping on the way does not make the first snapshot's objects look like a gain.
  for (const { instance } of able) await instance.compact?.()
  const members = able.map((member) => ({ ...member, start: diskOf(member), times: [], mostFiles: 0 }))
  for (let i = 0; i < count; i++) {
    const changed = tree.workspace.edit(1 + (i % 3))
    if (i % 20 === 0) await waitForQuiet()
    for (let j = 0; j < members.length; j++) {
      const member = members[(i + j) % members.length]
      flush(tree.workspace.root)
      await member.instance.snapshot(changed)
      member.times.push(member.instance.took())
      if (i % 20 === 19) member.mostFiles = Math.max(member.mostFiles, diskOf(member).files)
    }
    if ((i + 1) % 100 === 0) progress(`${tree.label}: ${i + 1} checkpoints`)
  }
  const result = { files: tree.files, count, strategies: {} }
  const hundred = Math.min(100, Math.floor(count / 2))
  for (const member of members) {
    const { name, kind, instance, start, times, mostFiles } = member
    await instance.settle?.()
    const end = diskOf(member)
    const { rise } = grow(times)
    result.strategies[name] = {
      kind,
      firstMb: start.bytes / 2 ** 20,
      addedMb: (end.bytes - start.bytes) / 2 ** 20,
      totalMb: end.bytes / 2 ** 20,
      files: end.files,
      mostFiles: Math.max(mostFiles, end.files),
      first100: median(times.slice(0, hundred)),
      last100: median(times.slice(-hundred)),
      rise,
      slowest: Math.max(...times),
      times: times.map((value) => Number(value.toFixed(2))),
    }
  }
  tree.workspace.putBack()
  const heads = [
    "strategy",
    "first MB",
    "added MB",
    "total MB",
    "files at the end",
    "at most",
    "med first 100 ms",
    "med last 100 ms",
    "rise over N",
    "slowest ms",
  ]
  const rows = Object.entries(result.strategies).map(([name, row]) => [
    name,
    row.firstMb,
    row.addedMb,
    row.totalMb,
    String(row.files),
    String(row.mostFiles),
    row.first100,
    row.last100,
    `${(row.rise * 100).toFixed(0)} %`,
    row.slowest,
  ])
  context.print(`Growth over ${count} checkpoints, ${tree.label}`, table(heads, rows))
  return result
}
