/** What `pnpm start` shows: the command line is built, and its demo plays the main job. Exits non-zero if anything is off. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { root } from "./workspace.mjs"

const built = spawnSync(process.execPath, [join(root, "scripts/build.mjs"), "keepup"], { stdio: "inherit" })
if (built.status !== 0) process.exit(built.status ?? 1)

const demo = spawnSync(process.execPath, [join(root, "apps/cli/dist/keepup.cjs"), "demo", ...process.argv.slice(2)], {
  stdio: "inherit",
})
process.exitCode = demo.status ?? 1
