/** Subject `chat`: the first frame, a key press while an answer streams, and the memory of a long chat. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { repository } from "../harness/build.mjs"
import { first } from "./first.mjs"
import { keys } from "./keys.mjs"
import { memory } from "./memory.mjs"

const parts = { first, keys, memory }

export async function run(context) {
  const built = spawnSync(process.execPath, [join(repository, "scripts/build.mjs"), "keepup", "--bundle"], {
    stdio: ["ignore", "ignore", "inherit"],
  })
  if (built.status !== 0) throw new Error("keepup could not be built; see above.")
  for (const [name, part] of Object.entries(parts)) {
    if (context.only && !context.only.includes(name)) continue
    context.keep("chat", name, await part(context))
  }
}
