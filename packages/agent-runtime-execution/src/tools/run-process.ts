/** Runs a program in a process group of its own, with a time limit and bounded output, and leaves nothing of it behind. */
import { spawn } from "node:child_process"
import { createOutputBuffer, type Output } from "./output-buffer.js"

export interface RunProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
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

/** Rejects only if the program can't be started. On a cancel or time-out: SIGTERM to the group, then SIGKILL. */
export async function runProcess(options: RunProcessOptions): Promise<ProcessResult> {
  const output = createOutputBuffer(options.maxBytes)
  const child = spawn(options.command, [...options.args], {
    cwd: options.cwd,
    env: { ...options.env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  })
  const timers: NodeJS.Timeout[] = []
  const state = { isTimedOut: false, isCancelled: false }
  const hear = (bytes: Buffer): void => {
    output.add(bytes)
    options.onOutput?.(bytes.toString())
  }
  child.stdout.on("data", hear)
  child.stderr.on("data", hear)
  const stop = (): void => {
    killGroup(child.pid, "SIGTERM")
    timers.push(setTimeout(() => killGroup(child.pid, "SIGKILL"), options.graceMs))
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
    if (state.isTimedOut || state.isCancelled) await waitForGroup(child.pid, options.graceMs)
    return { exitCode: exitCode ?? undefined, killedBy: killedBy ?? undefined, ...state, output: output.read() }
  } finally {
    options.signal.removeEventListener("abort", onAbort)
    for (const timer of timers) clearTimeout(timer)
    if (child.pid !== undefined) killGroup(child.pid, "SIGKILL")
  }
}

/** Those who outlive the first of the group have their time too. */
async function waitForGroup(pid: number | undefined, ms: number): Promise<void> {
  const end = performance.now() + ms
  while (killGroup(pid, 0) && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** Whoever is left in the group hears it; a group that is gone is no trouble. */
function killGroup(pid: number | undefined, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false
  try {
    return process.kill(-pid, signal)
  } catch {
    return false // nobody is left
  }
}
