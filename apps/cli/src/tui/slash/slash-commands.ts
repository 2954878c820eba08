/** Every slash command, in the order of help. */
import { checkpointCommand } from "./checkpoint.js"
import { checkpointsCommand } from "./checkpoints.js"
import { configCommand } from "./config.js"
import { diffCommand } from "./diff.js"
import { exportCommand } from "./export.js"
import { helpCommand } from "./help.js"
import { importCommand } from "./import.js"
import { modelCommand } from "./model.js"
import { pauseCommand } from "./pause.js"
import { quitCommand } from "./quit.js"
import { renameCommand } from "./rename.js"
import { restoreCommand } from "./restore.js"
import { resumeCommand } from "./resume.js"
import { rewindCommand } from "./rewind.js"
import { sessionsCommand } from "./sessions.js"
import type { SlashCommand } from "./slash-command.js"
import { undoCommand } from "./undo.js"

export const slashCommands: readonly SlashCommand[] = [
  helpCommand,
  checkpointsCommand,
  checkpointCommand,
  rewindCommand,
  restoreCommand,
  undoCommand,
  diffCommand,
  sessionsCommand,
  resumeCommand,
  renameCommand,
  pauseCommand,
  exportCommand,
  importCommand,
  modelCommand,
  configCommand,
  quitCommand,
]
