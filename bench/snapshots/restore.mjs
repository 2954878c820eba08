/**
 * Back to checkpoint A after k files were changed (some added, some deleted), a checkpoint B, and a few more edits that
 * no checkpoint holds. The whole tree is compared afterwards: a fast restore that is wrong is not a restore.
 */
import { flush } from "../harness/disk.mjs"
import { progress, table } from "../harness/report.mjs"
import { interleave } from "../harness/rounds.mjs"
import { gather } from "./members.mjs"

export async function restore(context, tree) {
  const able = (await gather(context, tree)).filter(({ instance }) => instance.restore)
  const members = new Map(able.map(({ name, instance }) => [name, instance]))
  const result = { files: tree.files, strategies: {} }
  for (const k of [1, 50]) {
    const faults = Object.fromEntries([...members.keys()].map((name) => [name, { wrong: 0, left: 0, rewritten: 0 }]))
    let target
    let before
    const contestants = Object.fromEntries(
      [...members].map(([name, instance]) => [name, () => instance.restore(target)]),
    )
    const { rows, load } = await interleave(contestants, {
      rounds: context.quick ? 2 : 9,
      took: (name) => members.get(name).took(),
      // Who takes more than a second each time has shown it after two turns.
      budgetMs: Object.fromEntries([...members.keys()].map((name) => [name, 2000])),
      before: async (name) => {
        const instance = members.get(name)
        // Peers that write nothing new into an unchanged tree would otherwise go back to another one's state.
        target = await instance.snapshot([])
        before = tree.workspace.manifest()
        await instance.snapshot(tree.workspace.mess(k))
        tree.workspace.mess(1)
        await new Promise((next) => setTimeout(next, 60))
        flush(tree.workspace.root)
      },
      after: (name, round) => {
        const found = tree.workspace.compare(before)
        if (round >= 0) for (const key of Object.keys(found)) faults[name][key] += found[key]
        tree.workspace.putBack()
      },
    })
    for (const [name, row] of Object.entries(rows)) {
      result.strategies[name] ??= {}
      result.strategies[name][`k${k}`] = { ...row, ...faults[name] }
    }
    result.load = load
    progress(`${tree.label}: restore k=${k} done`)
  }
  const rows = Object.entries(result.strategies).flatMap(([name, by]) =>
    Object.entries(by).map(([k, row]) => [
      name,
      k.slice(1),
      row.median,
      row.min,
      ...[row.wrong, row.left, row.rewritten].map(String),
    ]),
  )
  const heads = ["strategy", "k", "med ms", "min ms", "wrong content", "files left", "rewritten for nothing"]
  context.print(`Restore, ${tree.label} (faults: sum over all runs)`, table(heads, rows))
  return result
}
