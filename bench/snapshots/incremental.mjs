/** One checkpoint after another: k = 0, 1 and 50 changed files since the last one, for everybody on the same tree. */
import { flush, usage } from "../harness/disk.mjs"
import { hire } from "../harness/member.mjs"
import { progress, table } from "../harness/report.mjs"
import { interleave } from "../harness/rounds.mjs"
import { gather } from "./members.mjs"
import { isInUserRepository } from "./strategies.mjs"

/** Nothing must be reached where nothing changed: a few turns show it. */
const rounds = { 0: 3, 1: 9, 50: 5 }

/** A program that stays in memory has most of its snapshots behind it when its code is warm. */
const warmup = { warmup: 20, warmupMs: 250 }

export async function incremental(context, tree) {
  const members = await gather(context, tree)
  const floors = await hire(new URL("./floors.mjs", import.meta.url).href, "floors", tree.workspace.root)
  const result = { files: tree.files, git: tree.git, strategies: {} }
  for (const k of [0, 1, 50]) {
    let changed = []
    const contestants = Object.fromEntries(
      members.map(({ name, instance }) => [name, () => instance.snapshot(changed)]),
    )
    contestants["floor: lstat walk (find)"] = () => floors.walkInFind()
    contestants["floor: lstat walk (node)"] = () => floors.walkInNode()
    contestants["floor: hash changed bytes"] = () => floors.hashChanged(changed)
    const { rows, load } = await interleave(contestants, {
      rounds: context.quick ? 3 : rounds[k],
      ...warmup,
      took: (name) => (members.find((member) => member.name === name)?.instance ?? floors).took(),
      beforeRound: async () => {
        changed = tree.workspace.edit(k)
        // The watcher's news come a moment later than the edit, as they do in life; nobody is timed meanwhile.
        await new Promise((next) => setTimeout(next, 60))
      },
      before: () => flush(tree.workspace.root),
    })
    progress(`${tree.label}: k=${k} done`)
    for (const [name, row] of Object.entries(rows)) {
      result.strategies[name] ??= {}
      result.strategies[name][`k${k}`] = row
    }
    result.load = load
  }
  await floors.close()
  result.trees = await sameTree(members)
  for (const { name, folder, instance, firstMs } of members) {
    await instance.settle?.()
    Object.assign(result.strategies[name], {
      firstMs,
      diskMb: isInUserRepository(name) ? null : usage(folder).bytes / 2 ** 20,
    })
  }
  tree.workspace.putBack()
  const heads = ["strategy", "first ms", "k=0 med", "k=0 min", "k=1 med", "k=1 min", "k=50 med", "k=50 min", "disk MB"]
  const rows = Object.entries(result.strategies).map(([name, row]) => [
    name,
    row.firstMs,
    ...["k0", "k1", "k50"].flatMap((k) => [row[k].median, row[k].min]),
    row.diskMb,
  ])
  context.print(`Snapshots, ${tree.label}: milliseconds per snapshot`, table(heads, rows))
  return result
}

/** The shadow repositories must all have captured the same tree: a peer that sees less would look faster than it is. */
async function sameTree(members) {
  const trees = {}
  for (const { name, instance } of members) {
    if (instance.treeOf) trees[name] = (await instance.treeOf(await instance.snapshot([]))).trim()
  }
  if (new Set(Object.values(trees)).size > 1) progress(`the captured trees differ: ${JSON.stringify(trees)}`)
  return trees
}
