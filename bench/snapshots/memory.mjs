/** Peak resident memory of one snapshot in a process of its own, git children included. */
import { join } from "node:path"
import { benchFolder } from "../harness/build.mjs"
import { peakMemory } from "../harness/process.mjs"
import { table } from "../harness/report.mjs"
import { keepupBundle } from "./keepup.mjs"

export async function memory(context, tree) {
  const bundle = await keepupBundle()
  if (!bundle) return {}
  const child = join(benchFolder, "snapshots", "memory-child.mjs")
  const folder = context.scratch.folder("memory")
  const result = {}
  const run = async (name, ...more) => {
    const { output, ...sizes } = await peakMemory([child, bundle, tree.workspace.root, folder, ...more])
    result[name] = sizes
  }
  await run("first snapshot")
  tree.workspace.edit(1)
  await run("next snapshot, k=1, exact scan")
  await run("an empty node process", "--nothing")
  const rows = Object.entries(result).map(([name, row]) => [name, row.peakMb, row.anonymousMb, row.nodeMb])
  context.print(
    `Memory of one snapshot, ${tree.label}`,
    table(["what", "peak MB with git", "without mapped files", "peak MB of node alone"], rows),
  )
  return result
}
