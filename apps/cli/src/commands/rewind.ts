/** `rewind N`: back to a checkpoint as a new session; the original stays. */
import type { Command } from "../command.js"
import { getCheckpoint, getSession } from "../references.js"
import { restore } from "./checkpoint/restore.js"

export const rewindCommand: Command = {
  summary: "go back to a checkpoint in a new session; the original stays",
  description: [
    'The same as `keepup checkpoint restore N --branch "{session} (rewind from #N)"`: the files go back, and the ' +
      "conversation goes on from there in a session of its own.",
  ],
  arguments: [{ name: "N", summary: "the checkpoint's number, or any other reference", completes: "checkpoint" }],
  options: [
    { flags: "--conversation", summary: "leave the files as they are" },
    { flags: "--dry-run", summary: "only show the plan" },
    { flags: "-y, --yes", summary: "do not ask" },
  ],
  examples: [{ command: "keepup rewind 3", does: "Try again from #3" }],
  exits: ["NOT_FOUND", "SESSION_RUNNING", "CONFLICT"],
  async run(context, input) {
    const session = await getSession(context)
    const checkpoint = await getCheckpoint(context, session, input.argument("N"))
    await restore(context, checkpoint, {
      mode: input.flag("conversation") ? "conversation" : "both",
      branch: true,
      isDry: input.flag("dry-run"),
      isSure: input.flag("yes"),
      said: () => `Rewound to checkpoint #${checkpoint.number}. Original session preserved.`,
    })
  },
}
