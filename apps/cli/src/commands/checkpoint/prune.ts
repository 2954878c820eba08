/** `checkpoint prune`: applies retention now, and says which checkpoints go. What that frees, `gc` measures. */

import { checkpointToJson, parseDuration, parseSize } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import { plural } from "../../output/text.js"
import { describe, getSession } from "../../references.js"

export const pruneCommand: Command = {
  summary: "remove automatic checkpoints beyond what retention keeps",
  description: [
    "Never removed: pinned, named and manual checkpoints, branch points, a session's first and newest one, and what a " +
      "restore or a run found there in the last 7 days. The conversation stays whole in any case. What only these " +
      "checkpoints kept on disk is freed by `keepup gc`, which says how much that was.",
  ],
  options: [
    {
      flags: "--keep <N>",
      summary: "automatic ones to keep; the setting checkpoint.retention unless told",
      isCount: true,
    },
    { flags: "--older-than <TIME>", summary: "automatic ones older than this go too, like 7d" },
    { flags: "--max-size <SIZE>", summary: "the oldest automatic ones go until all take less than this, like 500MB" },
    { flags: "--dry-run", summary: "only say what would go" },
    { flags: "-y, --yes", summary: "do not ask" },
  ],
  examples: [
    { command: "keepup checkpoint prune --dry-run", does: "What would go" },
    { command: "keepup checkpoint prune --keep 5 --yes", does: "Keep five automatic ones" },
    { command: "keepup checkpoint prune --older-than 7d --max-size 500MB", does: "By age and by size" },
  ],
  exits: ["NOT_FOUND", "SESSION_RUNNING"],
  async run(context, input) {
    const session = await getSession(context)
    const { manager, config } = await context.openRuntime()
    const [older, size] = [input.option("older-than"), input.option("max-size")]
    const policy = {
      keep: input.count("keep") ?? config["checkpoint.retention"],
      ...(older !== undefined && { maxAgeMs: parseDuration(older) }),
      ...(size !== undefined && { maxTotalBytes: parseSize(size) }),
    }
    const plan = await manager.planPrune(session.id, policy)
    const isDry = input.flag("dry-run")
    if (!isDry && plan.length > 0 && !input.flag("yes")) {
      await context.confirm(
        `Remove ${plural(plan.length, "checkpoint")}: ${plan.map(({ number }) => `#${number}`).join(", ")}?`,
      )
    }
    const prune = () => manager.prune(session.id, policy)
    const { removed } = isDry
      ? { removed: plan }
      : await context.uninterrupted(prune, { finishing: "What is being removed" })
    const document = { removed: removed.map(checkpointToJson), ...(isDry && { applied: false }) }
    context.answer(document, () => {
      if (removed.length === 0) return "Nothing to remove."
      const lines = removed.map((one) => `#${one.number}  ${describe(one)}`)
      const what = plural(removed.length, "checkpoint")
      const last = isDry ? `Would remove ${what}.` : `Removed ${what}. What only they kept is freed by: keepup gc`
      return [...lines, last].join("\n")
    })
  },
}
