/** Subject `checkpoints`: what a checkpoint costs beside its snapshot, lists, sizes, and the way back. */
import { list } from "./list.mjs"
import { restore } from "./restore.mjs"
import { size } from "./size.mjs"
import { take } from "./take.mjs"

const parts = { restore, take, list, size }

export async function run(context) {
  for (const [name, part] of Object.entries(parts)) {
    if (context.only && !context.only.includes(name)) continue
    context.keep("checkpoints", name, await part(context))
  }
}
