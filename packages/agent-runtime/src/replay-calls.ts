/** The calls of a recorded history, run again in a scratch copy as their results come by, and compared with them. */
import { createHash } from "node:crypto"
import { realpath } from "node:fs/promises"
import type { Entry, EntryRef, EventData, Message, SessionId, Tool, ToolResultMessage } from "@ku0/agent-runtime-core"
import {
  createFileContextTracker,
  createTodoList,
  createTools,
  createWorkspace,
  describeToolError,
} from "@ku0/agent-runtime-execution"
import { containCommands } from "./contain-commands.js"
import { comparePictures, type FolderPicture, takeFolderPicture } from "./folder-picture.js"
import type { Runtime } from "./open-runtime.js"
import { replayRestore } from "./replay-restore.js"

/** A call that can reach outside of the scratch copy, as it would run there. */
export interface OutsideCall {
  readonly callId: string
  readonly name: string
  readonly arguments: unknown
  /** Whether there is a wall between it and the workspace, so that it can't touch that. */
  readonly isContained: boolean
}

export interface CallDifference {
  readonly callId: string
  readonly name: string
  readonly expected: string
  readonly got: string
}

export interface SkippedCall {
  readonly callId: string
  readonly name: string
  /** A sentence's end: "was not approved". */
  readonly reason: string
}

export interface CreateCallReplayOptions {
  /** The entry whose state the tools begin with. */
  readonly at: EntryRef
  readonly workspacePath: string
  /** The copy, without links in its path. */
  readonly scratch: string
  readonly approve?: (call: OutsideCall) => boolean | Promise<boolean>
  /** A folder for the wall around commands. */
  readonly wallFolder: string
  readonly runUncontained?: boolean
  readonly signal: AbortSignal
}

export interface CallReplay {
  hear(entry: Entry): Promise<void>
  end(): Promise<{
    calls: number
    differences: CallDifference[]
    skipped: SkippedCall[]
    /** Files of the workspace that changed since the first command ran. */
    workspaceChanges: string[]
  }>
}

const spawnTool = "spawn_agent"
const outsideTools: ReadonlySet<string> = new Set(["run_command", spawnTool])

export async function createCallReplay(runtime: Runtime, options: CreateCallReplayOptions): Promise<CallReplay> {
  const { scratch, signal, at } = options
  const { store } = runtime
  const { toScratch, toRecord } = await mapPaths(options)
  const env = toScratch(definedOnly(runtime.environment))
  const launcher = options.approve && (await buildWall(runtime, options))
  let before: FolderPicture | undefined
  const state = await store.state.get(at)
  const begunBefore = new Set((await store.log.fold(at)).openToolCalls.map(({ id }) => id))
  const tracker = createFileContextTracker({ workspacePath: scratch, state: state["fileContext"], watch: false })
  const started = new Map<string, EventData<"tool:started">>()
  const ended = new Map<string, EventData<"tool:ended">>()
  const spawned = new Map<string, SessionId>()
  const toolsOf = new Map<SessionId, ReadonlyMap<string, Tool>>()
  const differences: CallDifference[] = []
  const skipped: SkippedCall[] = []
  /** Call → hash of its whole output, when that is too long for the result. */
  const outputs = new Map<string, string>()
  let calls = 0

  function findTool(sessionId: SessionId, name: string): Tool | undefined {
    const known = toolsOf.get(sessionId) ?? createSessionTools(sessionId)
    toolsOf.set(sessionId, known)
    return known.get(name)
  }

  function createSessionTools(sessionId: SessionId): ReadonlyMap<string, Tool> {
    const tools = createTools({
      workspace: createWorkspace({ workspacePath: scratch, protectedPaths: [runtime.stateDirectory] }),
      context: tracker.getHandle(sessionId),
      todo: createTodoList(sessionId === at.sessionId ? state["todo"] : undefined),
      env,
      ...(launcher && { launcher }),
      keepArtifact: async ({ callId, content }) => {
        const text = toRecord(Buffer.from(content).toString("latin1"))
        outputs.set(callId, createHash("sha256").update(text, "latin1").digest("hex"))
        return { id: "replayed" }
      },
    })
    return new Map(tools.map((tool) => [tool.name, tool]))
  }

  async function hear({ type, data, sessionId }: Entry): Promise<void> {
    const { callId } = (data ?? {}) as { callId?: string } // others put anything into events of theirs
    if (type === "tool:started") started.set(callId as string, data as EventData<"tool:started">)
    else if (type === "tool:ended") ended.set(callId as string, data as EventData<"tool:ended">)
    else if (type === "agent:spawned" && callId !== undefined) {
      spawned.set(callId, (data as EventData<"agent:spawned">).sessionId as SessionId)
    } else if (type === "checkpoint:restored") await hearRestore(data as EventData<"checkpoint:restored">)
    else if (type === "message:added") {
      const { message } = data as { message: Message }
      if (message.role === "tool") await replayCall(sessionId, message)
    }
  }

  async function hearRestore(data: EventData<"checkpoint:restored">): Promise<void> {
    if (await replayRestore(runtime, scratch, data)) return
    const reason = "could not be done again in the copy: files may differ because of it"
    skipped.push({ callId: data.restoreId, name: "restore", reason })
  }

  async function replayCall(sessionId: SessionId, recorded: ToolResultMessage): Promise<void> {
    const { callId, name } = recorded
    const start = started.get(callId)
    const end = ended.get(callId)
    started.delete(callId)
    ended.delete(callId)
    // Refused, or not known to the agent: it never ran.
    if (start === undefined && end?.choice === undefined && !begunBefore.has(callId)) return
    const isContained = name === spawnTool || launcher !== undefined
    const call: OutsideCall = { callId, name, arguments: toScratch(start?.arguments), isContained }
    const reason = await findObstacle(sessionId, call, start !== undefined, end)
    if (reason !== undefined) {
      skipped.push({ callId, name, reason })
      return
    }
    if (name === spawnTool) return await replayChild(callId)
    calls++
    if (outsideTools.has(name)) before ??= await takeFolderPicture(options.workspacePath)
    const got = await runTool(findTool(sessionId, name) as Tool, call)
    await compare(recorded, got)
  }

  async function findObstacle(
    sessionId: SessionId,
    call: OutsideCall,
    isStarted: boolean,
    end: EventData<"tool:ended"> | undefined,
  ): Promise<string | undefined> {
    if (!isStarted) return "began before the checkpoint"
    if (end?.choice !== undefined && end.choice !== "retry")
      return `was in doubt (${end.choice}): nobody knows what it did`
    if (end?.outcome === "cancelled") return "was cancelled: nobody knows how far it came"
    if (call.name === spawnTool && !spawned.has(call.callId)) return "started no other agent"
    if (call.name !== spawnTool && findTool(sessionId, call.name) === undefined) return "is of a tool that is not here"
    if (!outsideTools.has(call.name)) return undefined
    if (options.approve !== undefined && !call.isContained && options.runUncontained !== true) {
      return "could touch the workspace: this system has no wall around commands"
    }
    return (await options.approve?.(call)) === true ? undefined : "was not approved"
  }

  /** Another agent is not started: what it did is in its log, and is done again from there. */
  async function replayChild(callId: string): Promise<void> {
    const child = spawned.get(callId) as SessionId
    for await (const entry of store.log.history(await store.log.head(child))) {
      signal.throwIfAborted()
      await hear(entry)
    }
  }

  async function runTool(tool: Tool, call: OutsideCall): Promise<{ content: string; isError: boolean }> {
    signal.throwIfAborted()
    try {
      const context = { callId: call.callId, signal, onProgress: () => undefined }
      const { content, isError = false } = await tool.run(call.arguments, context)
      return { content, isError }
    } catch (thrown) {
      signal.throwIfAborted()
      return { content: describeToolError(thrown), isError: true }
    }
  }

  async function compare(recorded: ToolResultMessage, run: { content: string; isError: boolean }): Promise<void> {
    const { callId, name, artifactIds = [] } = recorded
    const expected = show(recorded.content, recorded.isError === true)
    const got = show(toRecord(run.content), run.isError)
    const kept = await Promise.all(artifactIds.map(async (id) => (await store.artifacts.find(id))?.hash))
    const output = outputs.get(callId)
    // of a long output the result shows a part; all of it is compared, and how it ended
    const isLong = kept.length > 0 && output !== undefined
    const isSame = isLong ? kept.includes(output) && lastLine(expected) === lastLine(got) : expected === got
    if (!isSame) differences.push({ callId, name, expected, got })
  }

  return {
    hear,
    async end() {
      await tracker.dispose()
      const workspaceChanges =
        before === undefined ? [] : comparePictures(before, await takeFolderPicture(options.workspacePath))
      return { calls, differences, skipped, workspaceChanges }
    },
  }
}

async function buildWall(runtime: Runtime, options: CreateCallReplayOptions): Promise<readonly string[] | undefined> {
  return await containCommands({
    workspacePath: options.workspacePath,
    scratch: options.scratch,
    stateDirectory: runtime.stateDirectory,
    folder: options.wallFolder,
    environment: definedOnly(runtime.environment),
  })
}

function show(content: string, isError: boolean): string {
  return isError ? `(error) ${content}` : content
}

function lastLine(text: string): string | undefined {
  return text.split("\n").at(-1)
}

/** Absolute paths into the workspace ↔ the same in the copy, wherever they stand in a text. */
async function mapPaths({ workspacePath, scratch }: CreateCallReplayOptions) {
  const real = await realpath(workspacePath).catch(() => workspacePath) // it need not be there any more
  const inWorkspace = pathPattern([workspacePath, real])
  const inScratch = pathPattern([scratch])
  return {
    toScratch: <Value>(value: Value): Value =>
      mapStrings(value, (text) => text.replace(inWorkspace, () => scratch)) as Value,
    toRecord: (text: string): string => text.replace(inScratch, () => workspacePath),
  }
}

/** A path and what lies in it, not one whose name only begins the same. */
function pathPattern(paths: readonly string[]): RegExp {
  const sorted = [...new Set(paths)].sort((a, b) => b.length - a.length)
  const escaped = sorted.map((path) => path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
  return new RegExp(`(?:${escaped.join("|")})(?![\\w.-])`, "g")
}

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapStrings(part, change)]))
}

function definedOnly(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
}
