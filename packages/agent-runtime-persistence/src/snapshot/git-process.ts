/**
 * The only place that starts git. Nothing of the caller reaches it: every `GIT_*` is dropped, no system or user
 * configuration is read, hooks, templates, signing and prompts are off, and no optional lock is taken.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { KeepupError } from "@ku0/agent-runtime-core"
import { monotonicNow } from "../store/monotonic-time.js"

export interface GitOptions {
  /** The git program; found through `PATH` of the environment by default. */
  readonly program?: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The shadow repository. */
  readonly gitDirectory: string
  /** How long git may take to answer what it can answer at once; 30 s unless told. */
  readonly timeLimitMs?: number
}

export interface RunGitOptions {
  readonly input?: Buffer | string
  readonly workTree?: string
  readonly indexFile?: string
  readonly gitDirectory?: string
  /** Exit codes that are an answer and not a failure. 0 always is. */
  readonly accept?: readonly number[]
  readonly signal?: AbortSignal
  /** Git is killed when it says nothing for longer: `short` for what it can answer at once, `long` for ten times that. */
  readonly limit?: "short" | "long"
  /** Read the user's and the system's settings too. Only ever for `git config`. */
  readonly userHome?: string
  /** Read the system's attributes too. Only ever to ask for them. */
  readonly systemAttributes?: boolean
}

export interface GitResult {
  readonly stdout: Buffer
  /** Its first lines. */
  readonly stderr: string
  readonly exitCode: number
}

export interface Git {
  /** Runs git to its end. Output has no limit. Throws `UNAVAILABLE` without git and when it takes too long, `CANCELLED` on abort. */
  run(args: readonly string[], options?: RunGitOptions): Promise<GitResult>
  /** Starts git with pipes; the caller owns the process. */
  start(args: readonly string[], options?: RunGitOptions): ChildProcess
  /** How long whoever owns a process should wait for an answer. */
  readonly timeLimitMs: number
}

const defaultTimeLimitMs = 30_000

const settings = [
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "gc.auto=0",
  "-c",
  "maintenance.auto=false",
  "-c",
  "core.fsmonitor=false",
]

export function createGit(options: GitOptions): Git {
  const base = cleanEnvironment(options.environment)
  const program = options.program ?? "git"
  const timeLimitMs = options.timeLimitMs ?? defaultTimeLimitMs

  function start(args: readonly string[], run: RunGitOptions = {}, stdin: "pipe" | "ignore" = "pipe"): ChildProcess {
    const env: Record<string, string> = { ...base, GIT_DIR: run.gitDirectory ?? options.gitDirectory }
    if (run.userHome !== undefined) {
      env.HOME = run.userHome
      for (const name of ["GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL"]) delete env[name]
    }
    if (run.systemAttributes === true) delete env["GIT_ATTR_NOSYSTEM"]
    if (run.workTree !== undefined) env.GIT_WORK_TREE = run.workTree
    if (run.indexFile !== undefined) env.GIT_INDEX_FILE = run.indexFile
    const child = spawn(program, ["--no-optional-locks", ...settings, ...args], {
      cwd: run.workTree ?? options.gitDirectory,
      env,
      stdio: [stdin, "pipe", "pipe"],
      windowsHide: true,
    })
    if (run.signal !== undefined) killOnAbort(child, run.signal)
    return child
  }

  function run(args: readonly string[], runOptions: RunGitOptions = {}): Promise<GitResult> {
    return new Promise((resolve, reject) => {
      const child = start(args, runOptions, runOptions.input === undefined ? "ignore" : "pipe")
      const stdout: Buffer[] = []
      let stderr = ""
      child.stdout?.on("data", (chunk: Buffer) => {
        stdout.push(chunk)
        wait()
      })
      child.stderr?.on("data", (chunk: Buffer) => {
        if (stderr.length < 10_000) stderr += chunk.toString("utf8")
      })
      const limitMs = timeLimitMs * (runOptions.limit === "long" ? 10 : 1)
      const giveUp = () => {
        abandon(child)
        reject(tooSlow(nameOf(args), limitMs))
      }
      let stopWaiting = () => {}
      /** As long as it says something it is at work. */
      function wait(): void {
        stopWaiting()
        if (runOptions.limit !== undefined) stopWaiting = waitAtMost(limitMs, giveUp)
      }
      wait()
      child.on("error", (cause) => {
        stopWaiting()
        reject(explainStart(cause, runOptions.signal))
      })
      child.stdin?.on("error", () => {}) // git may end before it read everything; its exit code says how it went
      child.on("close", (code, signal) => {
        stopWaiting()
        const exitCode = code ?? 128
        if (runOptions.signal?.aborted) reject(cancelled())
        else if (exitCode === 0 || runOptions.accept?.includes(exitCode)) {
          resolve({ stdout: Buffer.concat(stdout), stderr, exitCode })
        } else reject(failed(args, signal ?? exitCode, stderr))
      })
      child.stdin?.end(runOptions.input)
    })
  }

  return { run, start, timeLimitMs }
}

/** As the `signal` of `spawn` does it, which takes longer to load than git takes to start. */
function killOnAbort(child: ChildProcess, signal: AbortSignal): void {
  const kill = () => {
    child.kill("SIGKILL")
    child.emit("error", cancelled()) // what git started may hold its pipes open; nobody waits for that
  }
  if (signal.aborted) process.nextTick(kill)
  else signal.addEventListener("abort", kill)
  child.once("close", () => signal.removeEventListener("abort", kill))
}

/** What git started may hold its pipes open, or nothing can end it: neither this program nor its end waits for that. */
export function abandon(child: ChildProcess): void {
  child.kill("SIGKILL")
  for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe?.destroy()
  child.unref()
}

/** The caller's environment without anything that steers git. */
export function cleanEnvironment(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const clean: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && !name.toUpperCase().startsWith("GIT_")) clean[name] = value
  }
  return {
    ...clean,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
  }
}

function explainStart(cause: Error, signal: AbortSignal | undefined): KeepupError {
  if (signal?.aborted) return cancelled()
  return new KeepupError("UNAVAILABLE", `git could not be started: ${cause.message}.`, {
    cause,
    hint: "Install git 2.36 or newer and make sure it is on PATH.",
  })
}

function cancelled(): KeepupError {
  return new KeepupError("CANCELLED", "git was stopped before it ended.")
}

/**
 * In two halves. One in which this program itself stood still, because it was busy or stopped, is waited for once more,
 * and what git said until then is heard before anyone gives up.
 * @returns what ends the waiting
 */
export function waitAtMost(limitMs: number, giveUp: () => void): () => void {
  const halfMs = limitMs / 2
  let timer: NodeJS.Timeout
  let last: NodeJS.Immediate | undefined
  function wait(halves: number): void {
    const due = monotonicNow() + halfMs
    timer = setTimeout(() => {
      if (monotonicNow() - due > halfMs / 2) wait(halves)
      else if (halves > 1) wait(halves - 1)
      else last = setImmediate(giveUp)
    }, halfMs)
  }
  wait(2)
  return () => {
    clearTimeout(timer)
    clearImmediate(last)
  }
}

export function tooSlow(command: string, limitMs: number): KeepupError {
  return new KeepupError("UNAVAILABLE", `git ${command} did not answer within ${limitMs / 1000} s.`, {
    hint: "See what holds git up: a disk that does not answer, or a pipe where it expects a file.",
    details: { command, limitMs },
  })
}

export function isTooSlow({ details }: KeepupError): boolean {
  return details?.["limitMs"] !== undefined
}

/** The command, behind the settings in front of it. */
function nameOf(args: readonly string[]): string {
  return args.find((arg, i) => !arg.startsWith("-") && args[i - 1] !== "-c") ?? ""
}

function failed(args: readonly string[], exit: number | string, stderr: string): KeepupError {
  const full = /No space left on device|Disk quota exceeded/.test(stderr)
  const command = nameOf(args)
  return new KeepupError(full ? "UNAVAILABLE" : "INTERNAL", `git ${command} ended with ${exit}: ${stderr.trim()}`, {
    hint: full ? "Free some disk space and try again." : "Run the check of the snapshot store.",
    details: { command, exit },
  })
}
