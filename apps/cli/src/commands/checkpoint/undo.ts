/** `checkpoint undo`: takes the workspace's last restore back. */
import { planToJson, restoreToJson, undoRestore } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import { plural } from "../../output/text.js"
import { findSession } from "../../references.js"

export const undoCommand: Command = {
  summary: "take the last restore back: every file and the conversation",
  description: [
    "The safety checkpoint of the restore becomes the present again. An undo is a restore itself and can be undone: nothing " +
      "is ever lost by going back and forth.",
  ],
  options: [
    { flags: "--restore <ID>", summary: "this restore, not the last one" },
    { flags: "-y, --yes", summary: "accepted and not needed: an undo does not ask" },
  ],
  examples: [{ command: "keepup checkpoint undo", does: "That restore was a mistake" }],
  exits: ["NOT_FOUND", "SESSION_RUNNING", "CONFLICT"],
  async run(context, input) {
    const runtime = await context.openRuntime()
    const id = input.option("restore")
    const session = await findSession(context)
    const workspacePath = session?.workspacePath ?? context.workspacePath
    const { signal } = context
    const done = await context.uninterrupted(
      () => undoRestore(runtime, { ...(id === undefined ? { workspacePath } : { restoreId: id }), signal }),
      { finishing: "The undo", stopped: "Stopped before any file was changed." },
    )
    const document = { restore: restoreToJson(done.restore), plan: planToJson(done.plan) }
    context.answer(document, () => {
      const { write, delete: remove } = done.plan
      const files = `${plural(write.length, "file")} written, ${plural(remove.length, "file")} deleted`
      const kept = `What was there until now is kept as #${done.safety.number}.`
      return `The restore was taken back: ${files}.\nEverything is as it was before it. ${kept}`
    })
  },
}
