/** Bundles and starts the crash child. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import type { ChildOrder } from "./crash-child.js"
import type { WorkspaceFixture } from "./workspace-fixture.js"

const here = dirname(fileURLToPath(import.meta.url))
let bundled: Promise<string> | undefined

/** The bundle lies inside the package, so that it finds the native modules it leaves out. */
function bundleChild(): Promise<string> {
  bundled ??= (async () => {
    const folder = join(here, "../../node_modules/.snapshot-tests")
    mkdirSync(folder, { recursive: true })
    const outfile = join(folder, `crash-child-${process.pid}.mjs`)
    await build({
      entryPoints: [join(here, "crash-child.ts")],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      conditions: ["@ku0/source"],
      external: ["@photostructure/sqlite"],
      logLevel: "error",
    })
    return outfile
  })()
  return bundled
}

export async function startChild(
  work: WorkspaceFixture,
  order: Omit<ChildOrder, "root" | "state" | "home" | "path">,
  { descriptors = "unlimited" }: { readonly descriptors?: number | "unlimited" } = {},
): Promise<ChildProcess> {
  const { root, state, home } = work
  const full: ChildOrder = { ...order, root, state, home, path: process.env.PATH as string }
  const command = [process.execPath, await bundleChild(), JSON.stringify(full)]
  const limited = descriptors === "unlimited" ? [] : ["sh", "-c", `ulimit -n ${descriptors}; exec "$@"`, "sh"]
  const [program, ...args] = [...limited, ...command] as [string, ...string[]]
  return spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] })
}

export interface ChildEnd {
  readonly signal: string | null
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

export function waitFor(child: ChildProcess): Promise<ChildEnd> {
  let output = ""
  let errors = ""
  child.stdout?.on("data", (chunk) => {
    output += chunk
  })
  child.stderr?.on("data", (chunk) => {
    errors += chunk
  })
  return new Promise((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, output, errors }))
  })
}
