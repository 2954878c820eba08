/** `checkpoint unpin`: retention may take it away again. */
import type { Command } from "../../command.js"
import { setPinned } from "../../set-pinned.js"

export const unpinCommand: Command = {
  summary: "let retention remove them again",
  arguments: [{ name: "REF…", summary: "3, a name, latest, or a part of an id", completes: "checkpoint" }],
  examples: [{ command: "keepup checkpoint unpin 3", does: "It is no longer special" }],
  exits: ["NOT_FOUND"],
  run: (context, input) => setPinned(context, input.list("REF"), false),
}
