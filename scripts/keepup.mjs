/** Runs the command line from source: `pnpm keepup …`. */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { root } from "./workspace.mjs"

const main = join(root, "apps/cli/src/keepup.ts")
if (existsSync(main)) {
  const result = spawnSync(
    process.execPath,
    ["--import", "tsx", "--conditions=@ku0/source", main, ...process.argv.slice(2)],
    {
      stdio: "inherit",
      // how components are compiled stands there
      env: { ...process.env, TSX_TSCONFIG_PATH: join(root, "apps/cli/tsconfig.json") },
    },
  )
  process.exitCode = result.status ?? 1
} else {
  console.error("The command line is not part of this version yet. `pnpm start` shows what stands.")
  process.exitCode = 1
}
