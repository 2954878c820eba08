/** Going on with a session that is there: after a crash, by choice, or with another one. */
import { chatMark, isKeepupError, type Runtime, type Session, shortId } from "@ku0/agent-runtime"
import { oneLine, plural } from "../../output/text.js"
import { relativeTime } from "../../output/time.js"
import type { Question } from "../state/chat-state.js"
import type { ChatScope } from "./chat-scope.js"
import { openSession, showConversation } from "./open-session.js"
import { notice } from "./show-event.js"

/** Makes it the session of the chat and shows where it stands. */
export async function goOnWith(scope: ChatScope, session: Session): Promise<void> {
  await openSession(scope, session)
  const { name, messageCount, checkpointCount, id } = scope.session as Session
  const facts = `${plural(messageCount, "message")}, ${plural(checkpointCount, "checkpoint")}`
  scope.store.dispatch(notice("info", `Session "${oneLine(name)}" (${shortId(id)}): ${facts}.`))
  await showConversation(scope)
}

/** Whether the agent was cut off: somebody waits for an answer, or a call for a decision. */
export async function isUnfinished({ store }: Runtime, session: Session): Promise<boolean> {
  const head = await store.log.head(session.id)
  const { openToolCalls, inDoubtToolCalls, messages } = await store.log.fold(head)
  if (openToolCalls.length + inDoubtToolCalls.length > 0) return true
  const last = messages.at(-1)
  if (last === undefined) return false
  return last.role === "user" || last.role === "tool" || (last.role === "assistant" && hasCalls(last))
}

function hasCalls({ toolCalls = [] }: { toolCalls?: readonly unknown[] }): boolean {
  return toolCalls.length > 0
}

/** The workspace's newest session, if its process died before it could leave. */
export async function findCutOff(runtime: Runtime): Promise<Session | undefined> {
  const session = await runtime.findCurrentSession()
  if (session === undefined) return undefined
  if (runtime.recovered.sessions.some((one) => one.session.id === session.id)) return session
  if (session.status === "interrupted") return session
  const pid = session.metadata[chatMark]
  return typeof pid === "number" && pid !== process.pid && !isAlive(pid) ? session : undefined
}

export function resumeQuestion(session: Session, now: number): Question {
  return {
    kind: "resume",
    title: `Session "${oneLine(session.name)}" was cut off ${relativeTime(session.updatedAt, now)}. Go on with it?`,
    detail: `${plural(session.messageCount, "message")}, ${plural(session.checkpointCount, "checkpoint")}. Nothing is lost.`,
    detailFormat: "plain",
    choices: [
      { key: "y", label: "go on" },
      { key: "n", label: "begin a new session" },
    ],
    fallback: "n",
  }
}

/** A line about the newest session for one who begins a new one. */
export async function hintAtNewest(scope: ChatScope, runtime: Runtime): Promise<void> {
  const session = await runtime.findCurrentSession()
  if (session === undefined || session.messageCount === 0) return
  const id = shortId(session.id)
  const text = `Last session here: "${oneLine(session.name)}", ${relativeTime(session.updatedAt, scope.now())}.`
  scope.store.dispatch(notice("info", text, `/resume ${id} goes on with it.`))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // someone else's process is alive all the same
    return !isKeepupError(error) && (error as NodeJS.ErrnoException).code === "EPERM"
  }
}
