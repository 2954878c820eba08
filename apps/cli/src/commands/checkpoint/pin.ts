/** `checkpoint pin`: retention never takes it away. */
import type { Command } from "../../command.js"
import { setPinned } from "../../set-pinned.js"

export const pinCommand: Command = {
  summary: "keep checkpoints for ever",
  arguments: [{ name: "REF…", summary: "3, a name, latest, or a part of an id", completes: "checkpoint" }],
  examples: [{ command: "keepup checkpoint pin 3", does: "This one worked: never remove it" }],
  exits: ["NOT_FOUND"],
  run: (context, input) => setPinned(context, input.list("REF"), true),
}
