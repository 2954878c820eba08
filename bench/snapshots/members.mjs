/** The strategies at work on one tree. A first snapshot can take minutes, so what has one is used by all parts. */
import { rmSync } from "node:fs"
import { usage } from "../harness/disk.mjs"
import { progress } from "../harness/report.mjs"
import { timed } from "../harness/rounds.mjs"
import { suitable } from "./strategies.mjs"

/** Everybody who can work on this tree, each with its first snapshot taken and its background work done. */
export async function gather(context, tree) {
  tree.members ??= new Map()
  for (const strategy of suitable(tree)) {
    if (tree.members.has(strategy.name)) continue
    const folder = context.scratch.folder(`shadow-${tree.members.size}`)
    const instance = await strategy.make(tree.workspace.root, folder)
    if (!instance) continue
    const { ms } = await timed(() => instance.first())
    await instance.settle?.()
    progress(`${tree.label}: ${strategy.name} has its first snapshot after ${Math.round(ms)} ms`)
    tree.members.set(strategy.name, { name: strategy.name, kind: strategy.kind, folder, instance, firstMs: ms })
  }
  return suitable(tree).flatMap(({ name }) => tree.members.get(name) ?? [])
}

export const diskOf = (member) => usage(member.folder)

/** Everybody goes, with all they wrote. */
export async function dismiss(tree) {
  for (const { instance, folder } of tree.members?.values() ?? []) {
    await instance.close?.()
    rmSync(folder, { recursive: true, force: true })
  }
  tree.members = undefined
}
