/** What a command is handed: what the user set, the runtime when it asks for it, and the ways to answer. */
import { existsSync, realpathSync, statSync } from "node:fs"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { type ErrorCode, KeepupError, type Runtime } from "@ku0/agent-runtime"
import type { CommandEntry } from "./command-entry.js"
import type { GlobalFlags } from "./global-options.js"
import type { Machine } from "./machine.js"
import { makeFolder } from "./make-folder.js"
import type { Progress } from "./output/progress.js"
import { colouredLines, createStyles, type Styles } from "./output/text.js"
import type { HoldWords } from "./watch-interrupts.js"

export interface Context {
  /** All of them, for help and completion. */
  readonly commands: readonly CommandEntry[]
  readonly flags: GlobalFlags
  readonly machine: Machine
  readonly workspacePath: string
  readonly stateDirectory: string
  readonly styles: Styles
  /** Columns of the terminal; `Infinity` for a pipe. */
  readonly width: number
  readonly progress: Progress
  /** Aborts at the first Ctrl-C. */
  readonly signal: AbortSignal
  readonly now: number
  /** The runtime, opened once and closed when the command has ended. */
  openRuntime(options?: OpenOptions): Promise<Runtime>
  /** The answer: JSON with `--json`, else the text. */
  answer(document: Readonly<Record<string, unknown>>, text: () => string | Uint8Array): void
  /** One line of a stream: a JSON line with `--json`, else the text. */
  stream(document: unknown, text: () => string): void
  /** A remark on standard error; not with `--quiet`. */
  remark(text: string): void
  /** Something the user should know, on standard error, also with `--quiet`. */
  warn(text: string): void
  /** Asks; without a terminal it is `INVALID_INPUT` naming `--yes`. False ends as CANCELLED. */
  confirm(question: string): Promise<void>
  /** Lets the work end before a Ctrl-C takes effect: all of it, or where `signal` stops it. */
  uninterrupted<Result>(work: () => Promise<Result>, words?: HoldWords): Promise<Result>
  /** The command did what it should, and what it found is bad: its exit code says so. */
  endWith(code: ErrorCode): void
}

export interface OpenOptions {
  /** False: what died is left as it is, to be looked at. */
  readonly recover?: boolean
  /** A checkpoint is taken right away. */
  readonly isForCheckpoint?: boolean
}

export interface ContextParts {
  readonly commands: readonly CommandEntry[]
  readonly flags: GlobalFlags
  readonly machine: Machine
  readonly progress: Progress
  readonly signal: AbortSignal
  readonly openRuntime: (context: Context, options: OpenOptions) => Promise<Runtime>
  readonly endWith: Context["endWith"]
  readonly uninterrupted: Context["uninterrupted"]
}

export function createContext(parts: ContextParts): Context {
  const { flags, machine, progress } = parts
  let workspacePath: string | undefined
  const styles = createStyles(wantsColour(flags, machine, machine.stdout.isTerminal))
  let runtime: Promise<Runtime> | undefined

  function print(text: string | Uint8Array): void {
    progress.clear()
    const isWhole = typeof text === "string" ? text.endsWith("\n") : text.at(-1) === 10
    const end = isWhole || text.length === 0 ? "" : "\n"
    // a line at once, so that whoever reads a stream gets no halves
    if (typeof text === "string") machine.stdout.write(text + end)
    else for (const part of [text, end]) machine.stdout.write(part)
  }

  function tell(text: string): void {
    progress.clear()
    machine.stderr.write(`${colouredLines(text, styles)}\n`)
  }

  const context: Context = {
    commands: parts.commands,
    flags,
    machine,
    // looked for when it is needed: help is given in a folder that is gone, too
    get workspacePath() {
      workspacePath ??= findWorkspace(flags, machine)
      return workspacePath
    },
    stateDirectory: findStateFolder(flags, machine),
    styles,
    width: machine.stdout.columns ?? readColumns(machine),
    progress,
    signal: parts.signal,
    now: machine.clock.now(),
    openRuntime(options = {}) {
      runtime ??= parts.openRuntime(context, options)
      return runtime
    },
    answer(document, text) {
      print(flags.json ? JSON.stringify({ ok: true, ...document }) : text())
    },
    stream(document, text) {
      print(flags.json ? JSON.stringify(document) : text())
    },
    remark(text) {
      if (!flags.quiet) tell(text)
    },
    warn: tell,
    async confirm(question) {
      if (!machine.canAsk || flags.json) {
        throw new KeepupError("INVALID_INPUT", `Nobody can be asked here: ${question}`, {
          hint: "Say yes beforehand with --yes, or look first with --dry-run.",
        })
      }
      progress.clear()
      const ask = () => machine.ask(`${question} [y/N] `, parts.signal)
      const answer = await parts.uninterrupted(ask, { stopped: "Nothing was changed." })
      if (!/^y(es)?$/i.test(answer?.trim() ?? "")) throw new KeepupError("CANCELLED", "Nothing was changed.")
    },
    uninterrupted: parts.uninterrupted,
    endWith: parts.endWith,
  }
  return context
}

/** A pipe is as wide as it takes, unless whoever reads it shows it in so many columns. */
function readColumns({ environment }: Machine): number {
  const columns = Number(environment["KEEPUP_COLUMNS"])
  return columns >= 20 ? columns : Number.POSITIVE_INFINITY
}

/** The folder `--state-dir` names, or the usual one; a relative one counts from the current folder. */
export function findStateFolder(flags: GlobalFlags, machine: Machine): string {
  const { environment, homeDirectory } = machine
  const chosen = flags.stateDir || environment["KEEPUP_STATE_DIR"]
  if (chosen) return isAbsolute(chosen) ? resolve(chosen) : resolve(machine.currentDirectory, chosen)
  const xdg = environment["XDG_STATE_HOME"]
  return xdg?.startsWith("/") ? join(xdg, "keepup") : join(homeDirectory, ".local", "state", "keepup")
}

export function wantsColour(flags: GlobalFlags, { environment }: Machine, isTerminal: boolean): boolean {
  if (!flags.color || flags.json || environment["NO_COLOR"]) return false
  return environment["FORCE_COLOR"] ? environment["FORCE_COLOR"] !== "0" : isTerminal && environment["TERM"] !== "dumb"
}

/** `--cwd`, or the current folder, or the nearest one above it that says it is a workspace and may be one. */
export function findWorkspace(flags: GlobalFlags, machine: Machine): string {
  if (flags.cwd !== undefined) {
    const folder = isAbsolute(flags.cwd) ? resolve(flags.cwd) : resolve(machine.currentDirectory, flags.cwd)
    if (!existsSync(folder) || !statSync(folder).isDirectory()) {
      throw new KeepupError("INVALID_INPUT", `There is no folder ${folder}.`, {
        hint: "Look at what --cwd names. If it was deleted, make it again: what was in it can be restored.",
      })
    }
    return realpathSync(folder)
  }
  const { currentDirectory } = machine
  for (let folder = currentDirectory; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".keepup", "config.json")) && !isTooWide(folder, machine)) return folder
    if (folder === dirname(folder)) return currentDirectory
  }
}

/** The home folder and the root are no workspaces, whatever lies in them: what is below must not become theirs. */
function isTooWide(folder: string, { homeDirectory }: Machine): boolean {
  return folder === dirname(folder) || (existsSync(homeDirectory) && realpathSync(homeDirectory) === folder)
}

/** Makes the state directory, for its owner's eyes only. */
export function ensureStateDirectory(folder: string): void {
  if (existsSync(folder)) return
  try {
    makeFolder(folder)
  } catch (cause) {
    throw new KeepupError("UNAVAILABLE", `The folder ${folder} can't be made (${(cause as Error).message}).`, {
      cause,
      hint: "Check the permissions, or name another place with --state-dir or KEEPUP_STATE_DIR.",
    })
  }
}
