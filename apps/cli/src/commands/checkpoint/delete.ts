/** `checkpoint delete`: takes checkpoints away, also named and pinned ones, after a question. */
import { type Checkpoint, checkpointToJson, KeepupError } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import { plural } from "../../output/text.js"
import { describe, getCheckpoint, getSession } from "../../references.js"

export const deleteCommand: Command = {
  summary: "take checkpoints away; the conversation stays",
  description: [
    "The log keeps its entries and the numbers are not used again. What only these checkpoints kept on disk is freed by " +
      "`keepup gc`. A pinned checkpoint has to be unpinned first.",
  ],
  arguments: [{ name: "REF…", summary: "3, a name, latest, or a part of an id", completes: "checkpoint" }],
  options: [
    { flags: "--dry-run", summary: "only say what would go" },
    { flags: "-y, --yes", summary: "do not ask" },
  ],
  examples: [{ command: "keepup checkpoint delete 2 3", does: "Two that nobody needs" }],
  exits: ["NOT_FOUND", "SESSION_RUNNING", "CONFLICT"],
  async run(context, input) {
    const session = await getSession(context)
    const { store } = await context.openRuntime()
    const found: Checkpoint[] = []
    for (const reference of input.list("REF")) found.push(await getCheckpoint(context, session, reference))
    const pinned = found.find((one) => one.pinned)
    if (pinned !== undefined) {
      throw new KeepupError("CONFLICT", `Checkpoint #${pinned.number} ${describe(pinned)} is pinned.`, {
        hint: `Unpin it first: keepup checkpoint unpin ${pinned.number}`,
      })
    }
    const what = found.map((one) => `#${one.number} ${describe(one)}`).join(", ")
    const document = { checkpoints: found.map(checkpointToJson) }
    if (input.flag("dry-run")) {
      context.answer({ ...document, applied: false }, () => `Would delete ${what}.`)
      return
    }
    if (!input.flag("yes")) await context.confirm(`Delete ${what}? This can't be undone.`)
    const remove = () => store.checkpoints.delete(found.map(({ id }) => id))
    const removed = await context.uninterrupted(remove, { finishing: "What is being deleted" })
    context.answer(document, () => `Deleted ${plural(removed, "checkpoint")}: ${what}.`)
  },
}
