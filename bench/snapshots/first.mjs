/** The first snapshot of a workspace: in a git repository with twenty dirty files, and without git. */
import { flush } from "../harness/disk.mjs"
import { progress, table } from "../harness/report.mjs"
import { interleave } from "../harness/rounds.mjs"
import { suitable } from "./strategies.mjs"

export async function first(context, tree) {
  if (tree.git) {
    tree.workspace.edit(15)
    tree.workspace.addFiles(5)
  }
  const members = suitable(tree).filter(({ kind, name }) => kind !== "partial" && name !== "keepup resident (hints)")
  const live = {}
  const contestants = {}
  for (const strategy of members) contestants[strategy.name] = () => live.instance.first()
  const available = {}
  for (const strategy of members) {
    const probe = await strategy.make(tree.workspace.root, context.scratch.folder("probe"))
    if (probe) available[strategy.name] = contestants[strategy.name]
    await probe?.close?.()
  }
  const slow = Object.fromEntries(
    members.filter(({ slowFirst }) => slowFirst || !tree.git).map(({ name }) => [name, 10_000]),
  )
  const { rows, load } = await interleave(available, {
    rounds: context.quick ? 2 : 5,
    warmup: 0,
    budgetMs: slow,
    before: async (name) => {
      const strategy = members.find((member) => member.name === name)
      live.instance = await strategy.make(tree.workspace.root, context.scratch.folder("first"))
      flush(tree.workspace.root)
    },
    after: async (name) => {
      await live.instance.settle?.()
      await live.instance.close?.()
      progress(`${tree.label}: first snapshot by ${name}`)
    },
  })
  context.scratch.folder("first")
  tree.workspace.putBack()
  const heads = ["strategy", "med ms", "min ms", "runs"]
  const body = table(
    heads,
    Object.entries(rows).map(([name, row]) => [name, row.median, row.min, String(row.n)]),
  )
  context.print(`First snapshot, ${tree.label}${tree.git ? ", 20 dirty files" : ""}`, body)
  return { files: tree.files, git: tree.git, strategies: rows, load }
}
