/** `session list`: the sessions of the workspace or of all, newest first; or as a tree of branches. */
import { type Session, type SessionStatus, sessionStatuses, sessionToJson, shortId } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import type { Context } from "../../context.js"
import { renderTable } from "../../output/table.js"
import { cut, cutName, oneLine, plural, type Styles, wrap } from "../../output/text.js"
import { relativeTime } from "../../output/time.js"
import { renderTree } from "../../output/tree.js"
import { findMoved, tellMoved } from "../../references.js"
import { plantSessions } from "../../session-tree.js"

export const listCommand: Command = {
  summary: "the sessions of this workspace, newest first",
  options: [
    { flags: "-a, --all", summary: "of every workspace" },
    { flags: "--tree", summary: "branches under the session they came from" },
    { flags: "--status <STATUS>", summary: "only these", choices: sessionStatuses },
    { flags: "--limit <N>", summary: "at most this many; 50 unless told", isCount: true },
  ],
  examples: [
    { command: "keepup session list", does: "What was done here" },
    { command: "keepup session list --tree", does: "Which attempt came from which" },
    { command: "keepup session list --all --status interrupted", does: "What died, anywhere" },
  ],
  exits: ["UNAVAILABLE"],
  async run(context, input) {
    const runtime = await context.openRuntime()
    const { store } = runtime
    const status = input.option("status") as SessionStatus | undefined
    const sessions = await store.sessions.list({
      limit: input.count("limit") ?? 50,
      ...(!input.flag("all") && { workspacePath: context.workspacePath }),
      ...(status && { status }),
    })
    const isNone = sessions.length === 0 && status === undefined && !context.flags.json
    const moved = isNone ? await findMoved(runtime, context.workspacePath) : undefined
    if (input.flag("tree") && !context.flags.json) {
      const tree = await plantSessions(context, sessions)
      context.answer({}, () => (tree.length === 0 ? nothing(context, moved) : renderTree(tree)))
      return
    }
    context.answer({ sessions: sessions.map(sessionToJson) }, () =>
      sessions.length === 0 ? nothing(context, moved) : renderSessions(context, sessions, input.flag("all")),
    )
  },
}

function nothing({ workspacePath, width }: Context, moved: Session | undefined): string {
  const text = `No sessions in ${oneLine(workspacePath)}. \`keepup run\` starts one; \`--all\` shows those of other workspaces.`
  return wrap(moved === undefined ? text : `${text} ${tellMoved(moved)}`, width)
}

function renderSessions({ styles, width, now }: Context, sessions: readonly Session[], isAll: boolean): string {
  const columns = [
    { title: "ID", paint: styles.cyan },
    { title: "NAME", shrinksTo: 16, cut: cutName },
    { title: "STATUS", paint: (cell: string, row: number) => paintStatus(cell, sessions[row]?.status ?? "", styles) },
    { title: "MSGS", align: "right" as const, dispensable: 1 },
    { title: "CHKP", align: "right" as const, dispensable: 2 },
    { title: "CHANGED" },
    ...(isAll
      ? [{ title: "WORKSPACE", shrinksTo: 12, cut: (text: string, most: number) => cut(text, most, "start") }]
      : []),
  ]
  const rows = sessions.map((session) => [
    shortId(session.id),
    oneLine(session.name),
    session.status,
    String(session.messageCount),
    String(session.checkpointCount),
    relativeTime(session.updatedAt, now),
    ...(isAll ? [oneLine(session.workspacePath)] : []),
  ])
  return `${renderTable({ columns, rows, width, styles })}\n${styles.dim(plural(sessions.length, "session"))}`
}

function paintStatus(cell: string, status: string, styles: Styles): string {
  if (status === "active") return styles.green(cell)
  if (status === "failed") return styles.red(cell)
  return status === "interrupted" || status === "paused" ? styles.magenta(cell) : cell
}
