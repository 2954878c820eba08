/** Starts the program that runs a batch, in a process of its own, and hears what it acknowledges. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import type { Death } from "./batch.js"

export interface Life {
  /** What it said before its end; a line that its death cut off is not among them. */
  readonly said: readonly Said[]
  readonly isKilled: boolean
}

export interface Said {
  readonly session?: string
  readonly seq?: number
  readonly type?: string
  readonly data?: string
  readonly fold?: string
  readonly outcome?: string
  readonly policy?: string
  readonly recovered?: readonly { readonly id: string; readonly inDoubt: number }[]
}

/** Bundles a program of the tests to where node finds the packages that stay outside. */
export async function bundleProgram(name: string): Promise<string> {
  const here = fileURLToPath(new URL(".", import.meta.url))
  const outfile = join(here, `../../../agent-runtime-persistence/node_modules/.keepup-test/${name}-${process.pid}.mjs`)
  await build({
    entryPoints: [join(here, `../programs/${name}.ts`)],
    outfile,
    bundle: true,
    conditions: ["@ku0/source"],
    external: ["@photostructure/sqlite", "pg"],
    format: "esm",
    platform: "node",
    target: "node20.20",
    logLevel: "error",
  })
  return outfile
}

/** Lets it live until its death, or its end. Rejects if it ends by itself with an error. */
export async function startLife(bundle: string, folder: string, death: Death | undefined): Promise<Life> {
  const fatal = death?.kind === "step" ? [death.step, String(death.count)] : []
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const child = spawn(process.execPath, ["--no-warnings", bundle, folder, ...fatal], {
    stdio: ["ignore", "pipe", "pipe"],
    env,
  })
  let text = ""
  let errors = ""
  let timer: NodeJS.Timeout | undefined
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    text += more
    if (death?.kind === "instant") timer ??= setTimeout(() => child.kill("SIGKILL"), death.afterMs)
  })
  child.stderr.setEncoding("utf8").on("data", (more: string) => {
    errors += more
  })
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null]
  clearTimeout(timer)
  const whole = text.slice(0, text.lastIndexOf("\n") + 1).split("\n")
  const said = whole.flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Said]))
  if (signal !== "SIGKILL" && code !== 0) throw new Error(`The batch in ${folder} ended with ${code}: ${errors}`)
  return { said, isKilled: signal === "SIGKILL" }
}
