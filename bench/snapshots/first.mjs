/** The first snapshot of a workspace: in a git repository with twenty dirty files, and without git. */
import { flush } from "../harness/disk.mjs"
import { progress, table } from "../harness/report.mjs"
import { interleave } from "../harness/rounds.mjs"
import { suitable } from "./strategies.mjs"

/** Who takes longer has one turn; without git, where everybody takes long, the fastest have two or three. */
const patienceMs = { git: 10_000, plain: 40_000 }

export async function first(context, tree) {
  if (tree.git) {
    tree.workspace.edit(15)
    tree.workspace.addFiles(5)
  }
  const members = suitable(tree).filter(({ kind, name }) => kind !== "partial" && name !== "keepup resident (hints)")
  tree.members ??= new Map()
  let live
  const contestants = {}
  for (const { name, make } of members) {
    const probe = await make(tree.workspace.root, context.scratch.folder("probe"))
    await probe?.close?.()
    if (probe) contestants[name] = () => live.instance.first()
  }
  const slow = members
    .filter(({ slowFirst }) => slowFirst || !tree.git)
    .map(({ name }) => [name, tree.git ? patienceMs.git : patienceMs.plain])
  const { rows, samples, load } = await interleave(contestants, {
    rounds: context.quick ? 3 : 9,
    warmup: 0,
    budgetMs: Object.fromEntries(slow),
    took: () => live.instance.took(),
    before: async (name) => {
      const strategy = members.find((member) => member.name === name)
      const folder = context.scratch.folder(`first-${members.indexOf(strategy)}`)
      live = { name, kind: strategy.kind, folder, instance: await strategy.make(tree.workspace.root, folder) }
      flush(tree.workspace.root)
    },
    after: async (name) => {
      await live.instance.settle?.()
      progress(`${tree.label}: first snapshot by ${name}`)
      // A first snapshot that took long is kept for the other parts; the others begin anew.
      if (live.kind === "peer" && slow.some(([other]) => other === name)) tree.members.set(name, live)
      else await live.instance.close?.()
    },
  })
  for (const [name, member] of tree.members) member.firstMs ??= samples[name]?.[0]
  tree.workspace.putBack()
  const heads = ["strategy", "med ms", "min ms", "runs"]
  const body = table(
    heads,
    Object.entries(rows).map(([name, row]) => [name, row.median, row.min, String(row.n)]),
  )
  context.print(`First snapshot, ${tree.label}${tree.git ? ", 20 dirty files" : ""}`, body)
  return { files: tree.files, git: tree.git, strategies: rows, load }
}
