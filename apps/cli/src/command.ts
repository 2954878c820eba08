/** The shape of a command: what it is called, what it takes, what it is good for, and what it does. */
import type { ErrorCode } from "@ku0/agent-runtime"
import type { Context } from "./context.js"

/** What shell completion offers for a value. */
export type Completion = "session" | "checkpoint" | "setting" | "command" | "file" | readonly string[]

export interface ArgumentSpec {
  /** In capitals, as help shows it; `REF?` may be left out, `WORD…` takes all that follow. */
  readonly name: string
  readonly summary: string
  readonly completes?: Completion
}

export interface OptionSpec {
  /** `-y, --yes`, `--limit <N>`, `--branch [NAME]`, `--path <P...>`. */
  readonly flags: string
  readonly summary: string
  /** The only values it takes. */
  readonly choices?: readonly string[]
  /** Whether the value is a whole number, 0 or more. */
  readonly isCount?: boolean
  readonly completes?: Completion
}

export interface Example {
  readonly command: string
  readonly does: string
}

export interface Command {
  readonly summary: string
  /** More than the summary, for `keepup help COMMAND`. Paragraphs. */
  readonly description?: readonly string[]
  readonly arguments?: readonly ArgumentSpec[]
  readonly options?: readonly OptionSpec[]
  /** What may stand after `--`; without it, that counts as arguments. */
  readonly rest?: ArgumentSpec
  readonly examples: readonly Example[]
  /** Codes it may end with, beside INTERNAL, INVALID_INPUT and CANCELLED, which any command may. */
  readonly exits: readonly ErrorCode[]
  readonly run: (context: Context, input: Input) => Promise<void>
}

/** What the user wrote, by the names of the specification. */
export interface Input {
  argument(name: string): string
  optional(name: string): string | undefined
  list(name: string): readonly string[]
  /** What stands after `--`. */
  readonly rest: readonly string[]
  flag(name: string): boolean
  /** The value of an option; `true` if it was given without the value it may have. */
  option(name: string): string | undefined
  count(name: string): number | undefined
  values(name: string): readonly string[] | undefined
  has(name: string): boolean
  /** Whether `--no-NAME` was given. */
  isOff(name: string): boolean
}
