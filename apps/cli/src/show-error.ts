/** How an error looks: what happened, what to do next, and where more is written down. The stack only if asked for. */
import { appendFileSync, existsSync, renameSync, statSync } from "node:fs"
import { join } from "node:path"
import { errorToJson, type KeepupError } from "@ku0/agent-runtime"
import type { GlobalFlags } from "./global-options.js"
import type { Machine } from "./machine.js"
import { makeFolder } from "./make-folder.js"
import { createStyles, manyLines, wrap } from "./output/text.js"
import { dateTime, relativeTime } from "./output/time.js"
import { version } from "./version.js"

export interface ShowErrorOptions {
  readonly flags: GlobalFlags
  readonly machine: Machine
  readonly stateDirectory: string
  readonly hasColour: boolean
  /** The command's name, for the log. */
  readonly command: string
}

/** Mistakes of whoever typed, and what they wanted themselves: nothing to look up later. */
const ordinary: ReadonlySet<string> = new Set([
  "INVALID_INPUT",
  "NOT_FOUND",
  "CANCELLED",
  "SESSION_RUNNING",
  "CONFLICT",
])
const largestLog = 1_000_000

export function showError(error: KeepupError, options: ShowErrorOptions): void {
  const { flags, machine } = options
  const isDebug = flags.debug || Boolean(machine.environment["KEEPUP_DEBUG"])
  const log = ordinary.has(error.code) ? undefined : writeLog(error, options)
  if (flags.json) {
    const { code, message, hint } = errorToJson(error)
    machine.stdout.write(`${JSON.stringify({ ok: false, error: { code, message, hint: hint ?? null } })}\n`)
  }
  const lines = flags.json ? [] : forPeople(error, options, log)
  if (isDebug) lines.push(stackOf(error))
  if (lines.length > 0) machine.stderr.write(`${lines.join("\n")}\n`)
}

function forPeople(error: KeepupError, { machine, hasColour }: ShowErrorOptions, log: string | undefined): string[] {
  const styles = createStyles(hasColour)
  const isStop = error.code === "CANCELLED"
  const width = machine.stderr.columns ?? Number.POSITIVE_INFINITY
  const fit = (text: string) => text.split("\n").map((line) => (line.startsWith(" ") ? line : wrap(line, width)))
  return [
    ...fit(
      `${styles.red(styles.bold(isStop ? "cancelled:" : "error:"))} ${manyLines(withLocalTime(error, machine.clock.now()))}` +
        (isStop ? "" : ` ${styles.dim(`[${error.code}]`)}`),
    ),
    ...fit(manyLines(error.hint ?? "")).filter((line) => line !== ""),
    ...(log === undefined ? [] : [`More is in ${log}`]),
  ]
}

/** Since when someone holds something, as a clock on the wall says it. */
function withLocalTime({ message, details }: KeepupError, now: number): string {
  const since = details?.["since"]
  if (typeof since !== "number") return message
  return message.replace(new Date(since).toISOString(), `${dateTime(since)} (${relativeTime(since, now)})`)
}

/** One line in `logs/keepup.log`; the log that is full is kept once. Never fails the command. */
function writeLog(error: KeepupError, { stateDirectory, machine, command }: ShowErrorOptions): string | undefined {
  const folder = join(stateDirectory, "logs")
  const file = join(folder, "keepup.log")
  try {
    makeFolder(folder)
    if (existsSync(file) && statSync(file).size > largestLog) renameSync(file, `${file}.1`)
    const time = new Date(machine.clock.now()).toISOString()
    const { code, message, hint } = error
    const line = { time, level: "error", command, version, node: process.version, code, message, hint }
    appendFileSync(file, `${JSON.stringify({ ...line, stack: stackOf(error) })}\n`, { mode: 0o600 })
    return file
  } catch {
    return undefined // the error itself is what the user must see
  }
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? "" : `\ncaused by: ${stackOf(error.cause)}`
  return `${error.stack ?? error.message}${cause}`
}
