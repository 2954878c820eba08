/** Runs a program in a process group of its own, with a time limit and bounded output. Stopped, it leaves nothing behind. */
import { spawn } from "node:child_process"
import { createOutputBuffer, type Output } from "./output-buffer.js"
import { createProcessTree, type ProcessTree } from "./process-tree.js"

export interface RunProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** `NAME=value` pairs of the environment that no other program has all of. */
  readonly marks?: readonly string[]
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** From the polite signal to the one that can't be refused. */
  readonly graceMs: number
  /** The most bytes of output that are kept. */
  readonly maxBytes: number
  /** Hears output as it comes. Must not throw. */
  readonly onOutput?: (text: string) => void
}

export interface ProcessResult {
  /** `undefined` if a signal ended it. */
  readonly exitCode: number | undefined
  readonly killedBy: NodeJS.Signals | undefined
  readonly isTimedOut: boolean
  readonly isCancelled: boolean
  /** Standard output and standard error, as they came. */
  readonly output: Output
}

/** How long what a program left running may hold on to its output after it is gone. */
const lingerMs = 250

/** Rejects only if the program can't be started. On a cancel or time-out: SIGTERM to all it started, then SIGKILL. */
export async function runProcess(options: RunProcessOptions): Promise<ProcessResult> {
  const output = createOutputBuffer(options.maxBytes)
  const child = spawn(options.command, [...options.args], {
    cwd: options.cwd,
    env: { ...options.env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  })
  const tree = child.pid === undefined ? undefined : createProcessTree(child.pid, options.marks ?? [])
  const timers: NodeJS.Timeout[] = []
  let stopping: Promise<void> | undefined
  const state = { isTimedOut: false, isCancelled: false }
  const hear = (bytes: Buffer): void => {
    output.add(bytes)
    options.onOutput?.(bytes.toString())
  }
  child.stdout.on("data", hear)
  child.stderr.on("data", hear)
  const stop = (): void => {
    stopping ??= askToEnd()
    timers.push(setTimeout(() => killGroup(child.pid, "SIGKILL"), options.graceMs))
  }
  const askToEnd = async (): Promise<void> => {
    await tree?.find() // before anyone ends: then nobody knows any more whose child it was
    killGroup(child.pid, "SIGTERM")
    tree?.kill("SIGTERM", "outside")
  }
  const onAbort = (): void => {
    state.isCancelled = true
    stop()
  }
  try {
    const [exitCode, killedBy] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.once("error", reject)
      child.once("close", (code, signal) => resolve([code, signal]))
      child.once("exit", (code, signal) => {
        // Background processes that keep the pipes open are not waited for: they end with the command.
        const end = (): void => {
          killGroup(child.pid, "SIGKILL")
          child.stdout.destroy()
          child.stderr.destroy()
          resolve([code, signal])
        }
        const isStopped = state.isTimedOut || state.isCancelled
        timers.push(setTimeout(end, isStopped ? options.graceMs + lingerMs : lingerMs))
      })
      timers.push(
        setTimeout(() => {
          state.isTimedOut = true
          stop()
        }, options.timeoutMs),
      )
      if (options.signal.aborted) onAbort()
      else options.signal.addEventListener("abort", onAbort, { once: true })
    })
    await stopping
    if (state.isTimedOut || state.isCancelled) await waitForAll(tree, options.graceMs)
    return { exitCode: exitCode ?? undefined, killedBy: killedBy ?? undefined, ...state, output: output.read() }
  } finally {
    options.signal.removeEventListener("abort", onAbort)
    for (const timer of timers) clearTimeout(timer)
    if (child.pid !== undefined) killGroup(child.pid, "SIGKILL")
  }
}

/** Those who outlive the first of the group have their time too. Then they are killed. */
async function waitForAll(tree: ProcessTree | undefined, ms: number): Promise<void> {
  const end = performance.now() + ms
  while ((await tree?.find()) === true && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 10))
  await tree?.end()
}

/** Whoever is left in the group hears it; a group that is gone is no trouble. */
function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // Nobody is left.
  }
}
