/** Opens the runtime for a command: settings from flags, environment and files; says what opening found and mended. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import {
  configKeys,
  environmentName,
  isKeepupError,
  KeepupError,
  openRuntime,
  type RecoverResult,
  type ResolveConfigOptions,
  type ResolvedConfig,
  type Runtime,
  resolveConfig,
  shortId,
} from "@ku0/agent-runtime"
import { type Context, ensureStateDirectory, type OpenOptions } from "./context.js"
import type { Machine } from "./machine.js"
import { oneLine, plural } from "./output/text.js"

export async function openWorkspace(
  context: Context,
  { recover = true, isForCheckpoint = false }: OpenOptions,
): Promise<Runtime> {
  const { flags, machine, workspacePath, stateDirectory, progress } = context
  const { config } = readSettings(context)
  ensureStateDirectory(stateDirectory)
  const db = flags.db ?? machine.environment["KEEPUP_DB"]
  const runtime = await openRuntime({
    stateDirectory,
    workspacePath,
    config,
    environment: machine.environment,
    homeDirectory: machine.homeDirectory,
    clock: machine.clock,
    ...(db && { db }),
    ...{ recover, isForCheckpoint },
    onWarning: context.warn,
    onProgress: (done, total, what = "Reading files") => progress.report(what, done, total),
  })
  tellRecovered(context, runtime.recovered)
  return runtime
}

export function readSettings(context: Context): ResolvedConfig {
  const { environment } = context.machine
  const files = { workspaceFile: workspaceFile(context.workspacePath), userFile: userFile(context.machine) }
  const parts = {
    environment,
    workspaceFile: readJson(files.workspaceFile),
    userFile: readJson(files.userFile),
  }
  try {
    return resolveConfig(parts)
  } catch (error) {
    const mend =
      "Mend that file, or take a setting out with `keepup config set --unset KEY`, in a workspace with --project."
    for (const name of ["workspaceFile", "userFile"] as const) tellWhere(files[name], { [name]: parts[name] }, mend)
    const set = "Set that variable to something else, or not at all."
    for (const name of configKeys.map(environmentName))
      tellWhere(name, { environment: { [name]: environment[name] } }, set)
    throw error
  }
}

/** Throws what is wrong in one place, and names it: whoever reads that is in the middle of something else. */
function tellWhere(where: string, options: ResolveConfigOptions, mend: string): void {
  try {
    resolveConfig(options)
  } catch (cause) {
    if (!isKeepupError(cause)) throw cause
    throw new KeepupError(cause.code, `In ${where}: ${cause.message}`, {
      cause,
      hint: cause.hint === undefined ? mend : `${cause.hint}\n${mend}`,
    })
  }
}

export function workspaceFile(workspacePath: string): string {
  return join(workspacePath, ".keepup", "config.json")
}

export function userFile({ environment, homeDirectory }: Machine): string {
  const base = environment["XDG_CONFIG_HOME"]
  return join(base?.startsWith("/") ? base : join(homeDirectory, ".config"), "keepup", "config.json")
}

export function readJson(path: string): unknown {
  if (!existsSync(path)) return undefined
  try {
    return JSON.parse(readFileSync(path, "utf8"))
  } catch (cause) {
    throw new KeepupError("INVALID_INPUT", `${path} can't be read: ${(cause as Error).message}.`, {
      cause,
      hint: "Mend it or move it away.",
    })
  }
}

/** What died before us is not a secret. */
function tellRecovered(context: Context, { restores, sessions, branches }: RecoverResult): void {
  for (const { restore, outcome, reason } of restores) {
    const what = { finished: "finished", "taken-back": "taken back", left: "left as it is" }[outcome]
    context.warn(`A restore that was broken off was ${what}: ${shortId(restore.id)}. ${reason}`)
  }
  for (const { session, inDoubt } of sessions) {
    const doubt = inDoubt.length > 0 ? `, ${plural(inDoubt.length, "tool call")} in doubt` : ""
    context.warn(
      `Session "${oneLine(session.name)}" (${shortId(session.id)}) was interrupted: its process is gone. ` +
        `Nothing is lost${doubt}. Go on with: keepup resume ${shortId(session.id)}`,
    )
  }
  for (const session of branches) {
    context.warn(`A rewind that was broken off was taken back: ${oneLine(session.name)} (${shortId(session.id)}).`)
  }
}
