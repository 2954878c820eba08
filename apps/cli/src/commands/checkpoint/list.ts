/** `checkpoint list`: the timeline of a session and the table under it. */
import {
  type Checkpoint,
  type CheckpointTrigger,
  checkpointToJson,
  checkpointTriggers,
  type Session,
  sessionToJson,
  shortId,
} from "@ku0/agent-runtime"
import { renderCheckpoints } from "../../checkpoint-table.js"
import type { Command } from "../../command.js"
import type { Context } from "../../context.js"
import { cutName, oneLine, plural } from "../../output/text.js"
import { getSession, sessionOption } from "../../references.js"

export const listCommand: Command = {
  summary: "the timeline of a session: every place you can go back to",
  options: [
    { flags: "-a, --all", summary: "every checkpoint, not only the newest" },
    { flags: "--limit <N>", summary: "at most this many, the newest; 50 unless told", isCount: true },
    { flags: "--trigger <TRIGGER>", summary: "only those taken for this", choices: checkpointTriggers },
  ],
  examples: [
    { command: "keepup checkpoint list", does: "Where you can go back to" },
    { command: "keepup checkpoint list --trigger manual", does: "Only those you made yourself" },
  ],
  exits: ["NOT_FOUND"],
  async run(context, input) {
    const session = await getSession(context)
    const { store } = await context.openRuntime()
    const trigger = input.option("trigger") as CheckpointTrigger | undefined
    const limit = input.flag("all") ? Number.POSITIVE_INFINITY : (input.count("limit") ?? 50)
    const checkpoints: Checkpoint[] = []
    for (let before = Number.MAX_SAFE_INTEGER; checkpoints.length < limit; ) {
      const wanted = trigger === undefined ? Math.min(limit - checkpoints.length, 1_000) : 1_000
      const page = await store.checkpoints.list(session.id, { limit: wanted, before })
      checkpoints.push(...page.filter((one) => trigger === undefined || one.trigger === trigger))
      if (page.length < wanted) break
      before = (page.at(-1) as Checkpoint).number
    }
    const shown = checkpoints.slice(0, limit).reverse()
    const document = { session: sessionToJson(session), checkpoints: shown.map(checkpointToJson) }
    const branches = context.flags.json
      ? []
      : await store.sessions.list({ workspacePath: session.workspacePath, limit: 200 })
    context.answer(document, () => renderList(context, session, shown, branches))
  },
}

const nothing = "No checkpoints yet. `keepup checkpoint create` makes one."

function renderList(
  context: Context,
  session: Session,
  checkpoints: readonly Checkpoint[],
  sessions: readonly Session[],
): string {
  const { styles } = context
  const facts = `${shortId(session.id)}, ${session.status}`
  const name = cutName(oneLine(session.name), Math.max(10, context.width - facts.length - 2))
  const title = `${styles.bold(name)}  ${styles.dim(facts)}`
  const hidden = session.checkpointCount - checkpoints.length
  if (checkpoints.length === 0) {
    const none = hidden > 0 ? `None of ${plural(hidden, "checkpoint")} is shown: --all, --limit, --trigger.` : nothing
    return `${title}\n\n${none}`
  }
  const lines = [title, "", renderCheckpoints(context, checkpoints)]
  if (hidden > 0) lines.push(styles.dim(`${plural(hidden, "more checkpoint")} not shown: --all, --limit, --trigger.`))
  const branches = checkpoints.flatMap(({ id, number }) =>
    sessions
      .filter(({ forkedFromCheckpointId }) => forkedFromCheckpointId === id)
      .map((one) => {
        const from = `#${number} --> `
        return `${from}${styles.cyan(shortId(one.id))} ${cutName(oneLine(one.name), Math.max(10, context.width - from.length - 9))}`
      }),
  )
  if (branches.length > 0) lines.push("", "Branches:", ...branches)
  const use = styles.cyan(`keepup rewind <#>${sessionOption(context, session)}`)
  lines.push("", `Use ${use} to restore to a checkpoint.`)
  return lines.join("\n")
}
