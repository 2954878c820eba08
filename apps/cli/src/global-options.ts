/** The options every command has. */
import type { OptionSpec } from "./command.js"

export interface GlobalFlags {
  readonly cwd: string | undefined
  readonly stateDir: string | undefined
  readonly db: string | undefined
  readonly session: string | undefined
  readonly json: boolean
  readonly quiet: boolean
  readonly color: boolean
  readonly debug: boolean
  readonly help: boolean
}

export const globalOptions: readonly OptionSpec[] = [
  {
    flags: "-S, --session <REF>",
    summary: "the session: an id or a part of it, a name, or latest",
    completes: "session",
  },
  { flags: "--cwd <DIR>", summary: "the workspace, if not the current folder", completes: "file" },
  { flags: "--state-dir <DIR>", summary: "where keepup keeps its data", completes: "file" },
  { flags: "--db <URL>", summary: "the database: sqlite:PATH or postgres://…" },
  { flags: "--json", summary: "one JSON document on standard output" },
  { flags: "-q, --quiet", summary: "no progress and no remarks" },
  { flags: "--no-color", summary: "no colours (also: NO_COLOR=1, or a pipe)" },
  { flags: "--debug", summary: "the stack of an error (also: KEEPUP_DEBUG=1)" },
  { flags: "-h, --help", summary: "help for the command" },
]

/** Whether an argument is a global option whose value is the argument after it. */
export function takesValue(argument: string): boolean {
  return ["-S", "--session", "--cwd", "--state-dir", "--db"].includes(argument)
}
