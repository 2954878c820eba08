/**
 * Programs that tests start as processes of their own, and may kill. A program is a TypeScript file, bundled once and run
 * with plain node, and it talks in lines of JSON on standard output.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

export interface ProgramEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Program {
  readonly pid: number
  /** What it has said so far. A line that was cut off by its death is not among them. */
  readonly said: readonly unknown[]
  /** The first thing said, now or later, that fits. Rejects with what it wrote on standard error if it ends before. */
  heard<Said>(fits: (said: Said) => boolean): Promise<Said>
  /** Says a line to its standard input. */
  tell(line: string): void
  signal(name: NodeJS.Signals): void
  /** Resolves when it has ended and everything it said was read. */
  readonly ended: Promise<ProgramEnd>
  readonly errors: () => string
}

const packageFolder = join(dirname(fileURLToPath(import.meta.url)), "..", "..")
const bundleFolder = join(packageFolder, "node_modules", ".keepup-test")

/** Bundles a program to where node finds the packages that stay outside. Returns the path of the bundle. */
export async function bundleProgram(source: string): Promise<string> {
  const name = source.replace(/^.*\//, "").replace(/\.ts$/, "")
  const bundle = join(bundleFolder, `${name}-${process.pid}.mjs`)
  removeOld(name)
  await build({
    entryPoints: [source],
    outfile: bundle,
    bundle: true,
    conditions: ["@ku0/source"],
    external: ["@photostructure/sqlite", "pg"],
    format: "esm",
    platform: "node",
    target: "node20.20",
    logLevel: "error",
  })
  return bundle
}

/** Bundles of runs that are over. */
function removeOld(name: string): void {
  for (const file of existsSync(bundleFolder) ? readdirSync(bundleFolder) : []) {
    const pid = /^(.+)-(\d+)\.mjs$/.exec(file)
    if (pid?.[1] === name && !isRunning(Number(pid[2]))) rmSync(join(bundleFolder, file), { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

export interface StartProgramOptions {
  /** Put in front of `node`, such as `unshare` with its arguments. */
  readonly under?: readonly string[]
}

export function startProgram(bundle: string, args: readonly string[], options: StartProgramOptions = {}): Program {
  const [command = "", ...rest] = [...(options.under ?? []), process.execPath, "--no-warnings", bundle, ...args]
  const child = spawn(command, rest, { stdio: ["pipe", "pipe", "pipe"] })
  const said: unknown[] = []
  const waiting = new Set<() => void>()
  let partial = ""
  let errors = ""
  let hasEnded = false
  child.stdin.on("error", () => undefined) // told something after its end
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (partial + text).split("\n")
    partial = lines.pop() ?? ""
    for (const line of lines) said.push(JSON.parse(line))
    for (const look of waiting) look()
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text
  })
  const ended = endOf(child).then((end) => {
    hasEnded = true
    for (const look of waiting) look()
    return end
  })

  function heard<Said>(fits: (said: Said) => boolean): Promise<Said> {
    return new Promise((resolve, reject) => {
      let next = 0
      const look = () => {
        for (; next < said.length; next++) {
          if (!fits(said[next] as Said)) continue
          waiting.delete(look)
          return resolve(said[next] as Said)
        }
        if (!hasEnded) return
        waiting.delete(look)
        reject(new Error(`The program ended before it said that. ${errors}`))
      }
      waiting.add(look)
      look()
    })
  }

  return {
    pid: child.pid as number,
    said,
    heard,
    tell: (line) => child.stdin.write(`${line}\n`),
    signal: (name) => child.kill(name),
    ended,
    errors: () => errors,
  }
}

async function endOf(child: ChildProcess): Promise<ProgramEnd> {
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null]
  return { code, signal }
}
