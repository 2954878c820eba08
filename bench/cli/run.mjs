/** Subject `cli`: what a command costs, the built program against Node itself and against plain git. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { repository } from "../harness/build.mjs"
import { create } from "./create.mjs"
import { hook } from "./hook.mjs"
import { start } from "./start.mjs"

const parts = { start, create, hook }

export async function run(context) {
  const built = spawnSync(process.execPath, [join(repository, "scripts/build.mjs"), "keepup", "--bundle"], {
    stdio: ["ignore", "ignore", "inherit"],
  })
  if (built.status !== 0) throw new Error("keepup could not be built; see above.")
  for (const [name, part] of Object.entries(parts)) {
    if (context.only && !context.only.includes(name)) continue
    context.keep("cli", name, await part(context))
  }
}
