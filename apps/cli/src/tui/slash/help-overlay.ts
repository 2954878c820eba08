/** What `/help` shows. */
import type { HelpOverlay } from "../state/overlay.js"
import { slashCommands } from "./slash-commands.js"

export function helpOverlay(): HelpOverlay {
  return {
    kind: "help",
    commands: slashCommands.map(({ usage, summary }) => ({ usage, summary })),
    keys: [
      { usage: "Enter", summary: "send; Alt-Enter, Ctrl-J or \\ before it: a new line" },
      { usage: "Tab", summary: "complete a command or a file after @" },
      { usage: "Up, Down", summary: "earlier messages" },
      { usage: "Ctrl-C", summary: "stop the turn; twice: leave with a checkpoint" },
      { usage: "Ctrl-T", summary: "the timeline: look, restore, rewind, undo" },
      { usage: "Ctrl-O", summary: "all of a tool's output; again: of the one before" },
      { usage: "Ctrl-D", summary: "leave with a checkpoint" },
      { usage: "Esc", summary: "close what lies over the conversation" },
    ],
  }
}
