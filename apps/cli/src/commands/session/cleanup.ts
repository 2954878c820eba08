/** `session cleanup`: closes sessions whose process died and takes old ended ones away. */
import { parseDuration, type Session, sessionToJson, shortId } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import { oneLine, plural } from "../../output/text.js"

export const cleanupCommand: Command = {
  summary: "close sessions that died, and take old ended ones away",
  description: [
    "Only sessions that are completed, failed or stopped are taken away, and only with --older-than. Active, paused and " +
      "interrupted ones stay, however old.",
  ],
  options: [
    { flags: "--older-than <TIME>", summary: "take ended ones away that nobody touched for this long, like 30d" },
    { flags: "--dry-run", summary: "only say what would be done" },
    { flags: "-y, --yes", summary: "do not ask" },
  ],
  examples: [
    { command: "keepup session cleanup", does: "Close what died" },
    { command: "keepup session cleanup --older-than 30d --dry-run", does: "See what would go" },
  ],
  exits: ["UNAVAILABLE"],
  async run(context, input) {
    const older = input.option("older-than")
    const range = older === undefined ? {} : { olderThanMs: parseDuration(older) }
    const runtime = await context.openRuntime()
    const isDry = input.flag("dry-run")
    const plan = await runtime.cleanupSessions({ ...range, dryRun: true })
    if (!isDry && plan.removed.length > 0 && !input.flag("yes")) {
      context.remark(plan.removed.map(describe).join("\n"))
      await context.confirm(`Delete ${plural(plan.removed.length, "session")}? This can't be undone.`)
    }
    const clean = () => runtime.cleanupSessions(range)
    const done = isDry ? plan : await context.uninterrupted(clean, { finishing: "What is being cleaned up" })
    // opening the runtime closed the dead ones already
    const interrupted = [...runtime.recovered.sessions.map(({ session }) => session), ...done.interrupted]
    const document = {
      interrupted: interrupted.map(sessionToJson),
      removed: done.removed.map(sessionToJson),
      left: done.left.map(({ session, reason }) => ({ session: sessionToJson(session), reason })),
      ...(isDry && { applied: false }),
    }
    context.answer(document, () => {
      const lines = [
        ...interrupted.map((session) => `closed   ${describe(session)}`),
        ...done.removed.map((session) => `${isDry ? "would delete" : "deleted"}  ${describe(session)}`),
        ...done.left.map(({ session, reason }) => `left     ${describe(session)}: ${reason}`),
      ]
      return lines.length === 0 ? "Nothing to clean up." : lines.join("\n")
    })
  },
}

function describe(session: Session): string {
  return `${shortId(session.id)}  ${oneLine(session.name)}  (${session.status})`
}
