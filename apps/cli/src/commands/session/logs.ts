/** `session logs`: what keepup has to say about a session; with `--follow` also what comes. */
import { logToJson, type SessionId, type SessionLogLine, type Store, sessionToJson, shortId } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import type { Context } from "../../context.js"
import { getSession } from "../../references.js"
import { renderLogLine } from "./show.js"

export const logsCommand: Command = {
  summary: "what keepup has to say about a session",
  arguments: [{ name: "SESSION?", summary: "an id or a part of it, a name, or latest", completes: "session" }],
  options: [
    { flags: "-f, --follow", summary: "go on until Ctrl-C; JSON lines with --json" },
    { flags: "--limit <N>", summary: "at most this many lines, the newest; 50 unless told", isCount: true },
  ],
  examples: [
    { command: "keepup session logs", does: "Warnings and failures of the newest session" },
    { command: "keepup session logs --follow", does: "Watch them come" },
  ],
  exits: ["NOT_FOUND"],
  async run(context, input) {
    const session = await getSession(context, input.optional("SESSION") ?? context.flags.session)
    const { store } = await context.openRuntime()
    const logs = (await store.sessions.listLogs(session.id, { limit: input.count("limit") ?? 50 })).reverse()
    if (!input.flag("follow")) {
      context.answer({ session: sessionToJson(session), logs: logs.map(logToJson) }, () =>
        logs.length === 0
          ? `Session ${shortId(session.id)} has no log lines.`
          : logs.map((line) => renderLogLine(context, line)).join("\n"),
      )
      return
    }
    for (const line of logs) show(context, line)
    await follow(context, store, session.id, logs.at(-1)?.id ?? 0)
  },
}

function show(context: Context, line: SessionLogLine): void {
  context.stream(logToJson(line), () => renderLogLine(context, line))
}

async function follow(context: Context, store: Store, id: SessionId, last: number): Promise<never> {
  for (let seen = last; ; await new Promise((resolve) => setTimeout(resolve, 500))) {
    const newer = (await store.sessions.listLogs(id, { limit: 1_000 })).filter((line) => line.id > seen).reverse()
    for (const line of newer) show(context, line)
    seen = newer.at(-1)?.id ?? seen
  }
}
