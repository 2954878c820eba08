/** Runs a shell command in the workspace, with a time limit. Long output is kept as an artifact and shown in part. */
import { stat } from "node:fs/promises"
import { KeepupError, type Tool, type ToolOutcome } from "@ku0/agent-runtime-core"
import { callIdVariable, findCallProcesses, workspaceVariable } from "./find-call-processes.js"
import { type ArgumentSchema, parseArguments, toParameters } from "./parse-arguments.js"
import { type ProcessResult, runProcess } from "./run-process.js"
import type { Workspace } from "./workspace-path.js"

const schema: ArgumentSchema = {
  type: "object",
  properties: {
    command: { type: "string", description: "A command line for sh" },
    path: { type: "string", description: "Folder to run it in, relative to the workspace" },
    timeoutSeconds: { type: "integer", minimum: 1, description: "When to give up" },
  },
  required: ["command"],
}

interface Arguments {
  readonly command: string
  readonly path?: string | null
  readonly timeoutSeconds?: number | null
}

/** Keeps long output. Rejects if it can't be kept; the model is then told. */
export type KeepArtifact = (artifact: {
  readonly callId: string
  readonly title: string
  readonly mediaType: string
  readonly content: Uint8Array
}) => Promise<{ readonly id: string }>

export interface RunCommandOptions {
  readonly workspace: Workspace
  /** The whole environment of the commands. */
  readonly env: Readonly<Record<string, string>>
  readonly keepArtifact?: KeepArtifact
  /** Default: `/bin/sh`. */
  readonly shell?: string
  /** A program and its arguments that the shell is started by: one that runs what follows them. */
  readonly launcher?: readonly string[]
  /** When a command does not say. Default: 120 seconds. */
  readonly timeoutMs?: number
  /** The most a command can ask for. Default: 30 minutes. */
  readonly maxTimeoutMs?: number
  /** From SIGTERM to SIGKILL. Default: 2 seconds. */
  readonly graceMs?: number
  /** What the model is shown of long output, in characters. Default: 20,000. */
  readonly maxCharacters?: number
  /** What is kept of it, in bytes. Default: 20 MB. */
  readonly maxKeptBytes?: number
}

export function createRunCommandTool(options: RunCommandOptions): Tool {
  const { workspace, timeoutMs = 120_000, maxTimeoutMs = 1_800_000 } = options
  const parse = (args: unknown): Arguments => parseArguments<Arguments>(schema, args)
  return {
    name: "run_command",
    description:
      "Run a shell command in the workspace and see its output. What it leaves running in the background ends with it, " +
      "unless that has a session of its own (setsid). When it takes too long, everything it started ends.",
    parameters: toParameters(schema),
    hasEffects: true,
    targets: async (args) => [(await workspace.resolve(parse(args).path ?? ".")).relative],
    async inspect(_args, callId) {
      const pids = await findCallProcesses(callId)
      if (pids === undefined) return { summary: "Whether the command still runs can't be told on this system." }
      if (pids.length > 0) return { summary: `The command still runs (process ${pids.join(", ")}).` }
      return { summary: "The command does not run any more; whether it came to its end is not known." }
    },
    async run(asked, { callId, signal, onProgress }) {
      const { command, path, timeoutSeconds } = parse(asked)
      const { absolute: cwd } = await workspace.resolve(path ?? ".")
      await requireFolder(cwd, path ?? ".")
      const marks = { [callIdVariable]: callId, [workspaceVariable]: (await workspace.resolve(".")).absolute }
      const [program = "", ...args] = [...(options.launcher ?? []), options.shell ?? "/bin/sh"]
      const result = await runProcess({
        command: program,
        args: [...args, "-c", command],
        cwd,
        env: { ...options.env, ...marks },
        marks: Object.entries(marks).map(([name, value]) => `${name}=${value}`),
        signal,
        timeoutMs: Math.min(maxTimeoutMs, timeoutSeconds ? timeoutSeconds * 1_000 : timeoutMs),
        graceMs: options.graceMs ?? 2_000,
        maxBytes: options.maxKeptBytes ?? 20_000_000,
        onOutput: onProgress,
      })
      if (result.isCancelled) throw new KeepupError("CANCELLED", "The command was cancelled.")
      return await toOutcome(result, command, callId, options)
    },
  }
}

async function requireFolder(cwd: string, path: string): Promise<void> {
  const found = await stat(cwd).catch(() => undefined)
  if (found?.isDirectory() !== true) throw new KeepupError("NOT_FOUND", `There is no folder ${path}.`)
}

async function toOutcome(
  result: ProcessResult,
  command: string,
  callId: string,
  { keepArtifact, maxCharacters = 20_000 }: RunCommandOptions,
): Promise<ToolOutcome> {
  const text = result.output.bytes.toString()
  const isLong = text.length > maxCharacters
  const kept = isLong && keepArtifact !== undefined ? await keep(keepArtifact, result, command, callId) : undefined
  const note =
    kept === undefined ? "" : kept.id === undefined ? ` (${kept.problem})` : ` (all of it: artifact ${kept.id})`
  const half = Math.floor(maxCharacters / 2)
  const gap = `\n[${text.length - 2 * half} characters left out${note}]\n`
  const shown = isLong ? text.slice(0, half) + gap + text.slice(text.length - half) : text
  const content = `${shown}${shown === "" || shown.endsWith("\n") ? "" : "\n"}${describeEnd(result)}`
  return {
    content,
    isError: result.exitCode !== 0 || result.isTimedOut,
    ...(kept?.id === undefined ? {} : { artifactIds: [kept.id] }),
  }
}

async function keep(
  keepArtifact: KeepArtifact,
  result: ProcessResult,
  command: string,
  callId: string,
): Promise<{ id: string; problem?: undefined } | { id?: undefined; problem: string }> {
  try {
    const title = `Output of ${command.split("\n")[0]?.slice(0, 80)}`
    return await keepArtifact({ callId, title, mediaType: "text/plain", content: result.output.bytes })
  } catch (error) {
    return { problem: `it could not be kept: ${error instanceof Error ? error.message : String(error)}` }
  }
}

function describeEnd({ exitCode, killedBy, isTimedOut }: ProcessResult): string {
  if (isTimedOut) return "(Stopped: it took too long.)"
  return exitCode === undefined ? `(Ended by ${killedBy}.)` : `(Exit code ${exitCode}.)`
}
