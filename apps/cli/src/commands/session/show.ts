/** `session show`: one session, its newest checkpoints and what keepup has to say about it. */
import {
  type Checkpoint,
  checkpointToJson,
  logToJson,
  type Session,
  type SessionLogLine,
  sessionToJson,
  shortId,
} from "@ku0/agent-runtime"
import { renderCheckpoints } from "../../checkpoint-table.js"
import type { Command } from "../../command.js"
import type { Context } from "../../context.js"
import { type Fact, renderFacts } from "../../output/facts.js"
import { manyLines, oneLine, pad } from "../../output/text.js"
import { dateTime, relativeTime } from "../../output/time.js"
import { getSession } from "../../references.js"

export const showCommand: Command = {
  summary: "one session with its checkpoints and its log",
  arguments: [{ name: "SESSION?", summary: "an id or a part of it, a name, or latest", completes: "session" }],
  options: [
    { flags: "--limit <N>", summary: "at most this many checkpoints and log lines; 50 unless told", isCount: true },
  ],
  examples: [
    { command: "keepup session show", does: "The session of this workspace" },
    { command: "keepup session show 4f1c9a20 --json", does: "One by its id, for a program" },
  ],
  exits: ["NOT_FOUND"],
  async run(context, input) {
    const session = await getSession(context, input.optional("SESSION") ?? context.flags.session)
    const { store } = await context.openRuntime()
    const limit = input.count("limit") ?? 50
    const checkpoints = (await store.checkpoints.list(session.id, { limit })).reverse()
    const logs = (await store.sessions.listLogs(session.id, { limit })).reverse()
    const document = {
      session: sessionToJson(session),
      checkpoints: checkpoints.map(checkpointToJson),
      logs: logs.map(logToJson),
    }
    const holder = await store.leases.find(`session:${session.id}`)
    context.answer(document, () => {
      const running =
        holder && `${holder.holder.purpose} (pid ${holder.holder.pid}) since ${dateTime(holder.holder.acquiredAt)}`
      return renderSession(context, session, checkpoints, logs, running)
    })
  },
}

function renderSession(
  context: Context,
  session: Session,
  checkpoints: readonly Checkpoint[],
  logs: readonly SessionLogLine[],
  running: string | undefined,
): string {
  const { styles, now, width } = context
  const facts: Fact[] = [
    ["Id", session.id],
    ["Status", session.status],
    ...(running ? ([["Held by", running]] as [string, string][]) : []),
    ["Agent", oneLine(session.agentType)],
    ["Workspace", oneLine(session.workspacePath)],
    ["Started", `${dateTime(session.createdAt)} (${relativeTime(session.createdAt, now)})`],
    ["Changed", `${dateTime(session.updatedAt)} (${relativeTime(session.updatedAt, now)})`],
    ["Messages", String(session.messageCount)],
    ["Checkpoints", String(session.checkpointCount)],
    ...(session.parentSessionId === null
      ? []
      : ([["Branch of", shortId(session.parentSessionId)]] as [string, string][])),
    ...(session.taskDescription === "" ? [] : ([["Task", oneLine(session.taskDescription)]] as [string, string][])),
  ]
  const parts = [styles.bold(oneLine(session.name)), renderFacts(facts, width, styles)]
  if (checkpoints.length > 0) parts.push("", renderCheckpoints(context, checkpoints))
  if (logs.length > 0) parts.push("", styles.bold("Log"), ...logs.map((line) => renderLogLine(context, line)))
  return parts.join("\n")
}

/** One line of a session's log. */
export function renderLogLine({ styles }: Context, { level, message, createdAt }: SessionLogLine): string {
  const word = pad(level, 5)
  const painted = level === "error" ? styles.red(word) : level === "warn" ? styles.magenta(word) : styles.dim(word)
  return `${styles.dim(dateTime(createdAt))}  ${painted}  ${manyLines(message)}`
}
