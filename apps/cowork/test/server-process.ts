/** Starts the server's program in a process of its own. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

export interface ServerProcess {
  readonly child: ChildProcess
  readonly port: number
  /** What its start did with restores that were broken off. */
  readonly settled: readonly string[]
  kill(): Promise<void>
}

/** Bundles it to where node finds the packages that stay outside. */
export async function bundleServer(): Promise<string> {
  const here = fileURLToPath(new URL(".", import.meta.url))
  const modules = join(here, "../../../packages/agent-runtime-persistence/node_modules/.keepup-test")
  const outfile = join(modules, `serve-program-${process.pid}.mjs`)
  await build({
    entryPoints: [join(here, "programs/serve-program.ts")],
    ...{ outfile, bundle: true, conditions: ["@ku0/source"], external: ["@photostructure/sqlite", "pg"] },
    ...{ format: "esm", platform: "node", target: "node20.20", logLevel: "error" },
    banner: { js: 'import{createRequire as from}from"node:module";const require=from(import.meta.url);' },
  })
  return outfile
}

export async function startServer(
  bundle: string,
  places: { readonly stateDirectory: string; readonly workspacePath: string },
  port = 0,
): Promise<ServerProcess> {
  const { stateDirectory, workspacePath } = places
  const child = spawn(process.execPath, ["--no-warnings", bundle, stateDirectory, workspacePath, String(port)])
  let errors = ""
  child.stderr.on("data", (chunk) => {
    errors += chunk
  })
  const said = await Promise.race([
    once(child.stdout, "data").then(([line]) => String(line)),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`the server ended with ${code}: ${errors}`))),
  ])
  return {
    child,
    ...(JSON.parse(said) as { port: number; settled: string[] }),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, "exit")
      child.kill("SIGKILL")
      await ended
    },
  }
}
