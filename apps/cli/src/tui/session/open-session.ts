/** Making a session the one of the chat: its newest messages on the screen, its facts in the status line. */
import { basename } from "node:path"
import {
  type Checkpoint,
  chatMark,
  createTodoList,
  diffCheckpoints,
  type Message,
  type Runtime,
  type Session,
  shortId,
  type TodoItem,
} from "@ku0/agent-runtime"
import { cut, oneLine } from "../../output/text.js"
import type { ChatAction } from "../state/chat-action.js"
import type { StatusFacts } from "../state/chat-state.js"
import type { ChatScope } from "./chat-scope.js"
import { showEvent, targetOf } from "./show-event.js"

/** Messages that are shown again. */
const shownMessages = 20

export async function startSession(scope: ChatScope, runtime: Runtime, prompt: string): Promise<Session> {
  const { workspacePath } = runtime
  const name = prompt === "" ? basename(workspacePath) : cut(oneLine(prompt), 60)
  const session = await runtime.store.sessions.create({
    workspacePath,
    name,
    agentType: "keepup",
    taskDescription: prompt,
    metadata: { [chatMark]: process.pid },
  })
  scope.session = session
  // the way back to before the agent touched anything
  await runtime.manager.take({ sessionId: session.id, trigger: "session.started" })
  await skipToHead(scope)
  scope.store.dispatch({ type: "status-changed", status: await readStatus(scope, runtime) })
  return session
}

/** Goes on with a session that is there. */
export async function openSession(scope: ChatScope, session: Session): Promise<void> {
  const runtime = await scope.openRuntime()
  const { store } = runtime
  if (scope.session !== undefined && scope.session.id !== session.id) await forgetChat(scope, runtime)
  scope.session = await store.sessions.updateMetadata(session.id, { [chatMark]: process.pid })
  const head = await store.log.head(session.id)
  scope.seen = head.seq
  const status = await readStatus(scope, runtime)
  scope.store.dispatch({ type: "session-switched", status, todo: readTodo(await store.state.get(head)) })
}

/** The end of the conversation, as it would stand on the screen. */
export async function showConversation(scope: ChatScope): Promise<void> {
  const { session } = scope
  if (session === undefined) return
  const { store } = await scope.openRuntime()
  const head = await store.log.head(session.id)
  const last = await store.log.lastMessages(head, shownMessages)
  const { openToolCalls, inDoubtToolCalls } = await store.log.fold(head)
  const inDoubt = new Set([...openToolCalls, ...inDoubtToolCalls].map(({ id }) => id))
  const messages = last.map(({ message }) => message)
  for (const action of replay(messages, inDoubt)) scope.store.dispatch(action)
}

/** The session is no longer one of a chat. */
export async function forgetChat(scope: ChatScope, runtime: Runtime): Promise<void> {
  if (scope.session !== undefined) {
    await runtime.store.sessions.updateMetadata(scope.session.id, { [chatMark]: undefined })
  }
}

/** What keepup itself wrote is not news. */
export async function skipToHead(scope: ChatScope): Promise<void> {
  if (scope.session === undefined) return
  const { store } = await scope.openRuntime()
  scope.seen = (await store.log.head(scope.session.id)).seq
}

export async function refreshStatus(scope: ChatScope): Promise<void> {
  if (scope.session === undefined) return
  const runtime = await scope.openRuntime()
  scope.session = await runtime.store.sessions.get(scope.session.id)
  scope.store.dispatch({ type: "status-changed", status: await readStatus(scope, runtime) })
}

async function readStatus(scope: ChatScope, runtime: Runtime): Promise<Partial<StatusFacts>> {
  const session = await runtime.store.sessions.get((scope.session as Session).id)
  scope.session = session
  return {
    sessionId: session.id,
    sessionShortId: shortId(session.id),
    sessionName: oneLine(session.name),
    model: modelName(scope, runtime),
    checkpointCount: session.checkpointCount,
    changedFiles: await countChanged(runtime, session),
    isPaused: session.status === "paused",
  }
}

/** What the next run will use, in a few words. */
export function modelName({ choice, session }: Pick<ChatScope, "choice" | "session">, runtime?: Runtime): string {
  const script = choice.script ?? (choice.model === undefined ? session?.metadata["script"] : undefined)
  if (typeof script === "string") return `script ${basename(script)}`
  const model = choice.model ?? session?.metadata["model"] ?? runtime?.config.model
  return typeof model === "string" ? model : ""
}

/** Files that differ between the session's oldest checkpoint and now: its newest one, unless a restore came after that. */
async function countChanged(runtime: Runtime, session: Session): Promise<number | undefined> {
  const all = (await runtime.store.checkpoints.list(session.id, { limit: 1_000 })).filter(hasFiles)
  const [newest, oldest] = [all[0], all.at(-1)]
  if (newest === undefined || oldest === undefined) return undefined
  try {
    const now = newest.trigger === "before-restore" ? "workspace" : newest
    return (await diffCheckpoints(runtime, oldest, now)).length
  } catch {
    return undefined // files of another machine, or missing ones: `keepup doctor` is where that is told
  }
}

function hasFiles({ snapshot }: Checkpoint): boolean {
  return snapshot !== null
}

function readTodo(state: Readonly<Record<string, unknown>>): readonly TodoItem[] {
  try {
    return createTodoList(state["todo"]).items
  } catch {
    return [] // the list of another agent; it is shown nowhere else either
  }
}

/** Messages → what shows them: a call with its result is one item. One without goes on later, unless it is in doubt. */
function replay(messages: readonly Message[], inDoubt: ReadonlySet<string>): ChatAction[] {
  const results = new Map(messages.flatMap((one) => (one.role === "tool" ? [[one.callId, one] as const] : [])))
  return messages.flatMap((message): ChatAction[] => {
    if (message.role === "tool") return []
    const calls = message.role === "assistant" ? (message.toolCalls ?? []) : []
    return [
      ...showEvent({ type: "message:added", data: { message } }, 0),
      ...calls.flatMap(({ id, name, arguments: args }): ChatAction[] => {
        const result = results.get(id)
        const open = inDoubt.has(id) ? "in-doubt" : "paused"
        const status = result === undefined ? open : result.isError === true ? "error" : "ok"
        return [
          { type: "tool-started", callId: id, name, target: targetOf(args) },
          { type: "tool-ended", callId: id, name, status, durationMs: undefined },
          ...(result === undefined
            ? []
            : [{ type: "tool-result" as const, callId: id, name, content: result.content }]),
        ]
      }),
    ]
  })
}
