/** Every command by its name, in the groups and the order of help. A command is loaded when it is wanted. */
import type { Command } from "./command.js"
import { type CommandEntry, commandGroups } from "./command-entry.js"

const [work, back, keep, sessions, house] = commandGroups

export const commands: readonly CommandEntry[] = [
  entry("chat", work, async () => (await import("./commands/chat.js")).chatCommand),
  entry("run", work, async () => (await import("./commands/run.js")).runCommand),
  entry("resume", work, async () => (await import("./commands/resume.js")).resumeCommand),
  entry("pause", work, async () => (await import("./commands/pause.js")).pauseCommand),
  entry("serve", work, async () => (await import("./commands/serve.js")).serveCommand),
  entry("demo", work, async () => (await import("./commands/demo.js")).demoCommand),
  entry("checkpoint list", back, async () => (await import("./commands/checkpoint/list.js")).listCommand),
  entry("checkpoint show", back, async () => (await import("./commands/checkpoint/show.js")).showCommand),
  entry("checkpoint diff", back, async () => (await import("./commands/checkpoint/diff.js")).diffCommand),
  entry("checkpoint restore", back, async () => (await import("./commands/checkpoint/restore.js")).restoreCommand),
  entry("checkpoint undo", back, async () => (await import("./commands/checkpoint/undo.js")).undoCommand),
  entry("rewind", back, async () => (await import("./commands/rewind.js")).rewindCommand),
  entry("checkpoint replay", back, async () => (await import("./commands/checkpoint/replay.js")).replayCommand),
  entry("checkpoint create", keep, async () => (await import("./commands/checkpoint/create.js")).createCommand),
  entry("checkpoint pin", keep, async () => (await import("./commands/checkpoint/pin.js")).pinCommand),
  entry("checkpoint unpin", keep, async () => (await import("./commands/checkpoint/unpin.js")).unpinCommand),
  entry("checkpoint delete", keep, async () => (await import("./commands/checkpoint/delete.js")).deleteCommand),
  entry("checkpoint prune", keep, async () => (await import("./commands/checkpoint/prune.js")).pruneCommand),
  entry("session list", sessions, async () => (await import("./commands/session/list.js")).listCommand),
  entry("session show", sessions, async () => (await import("./commands/session/show.js")).showCommand),
  entry("session new", sessions, async () => (await import("./commands/session/new.js")).newCommand),
  entry("session rename", sessions, async () => (await import("./commands/session/rename.js")).renameCommand),
  entry("session logs", sessions, async () => (await import("./commands/session/logs.js")).logsCommand),
  entry("session export", sessions, async () => (await import("./commands/session/export.js")).exportCommand),
  entry("session import", sessions, async () => (await import("./commands/session/import.js")).importCommand),
  entry("session delete", sessions, async () => (await import("./commands/session/delete.js")).deleteCommand),
  entry("session cleanup", sessions, async () => (await import("./commands/session/cleanup.js")).cleanupCommand),
  entry("handoff", sessions, async () => (await import("./commands/handoff.js")).handoffCommand),
  entry("init", house, async () => (await import("./commands/init.js")).initCommand),
  entry("config list", house, async () => (await import("./commands/config/list.js")).listCommand),
  entry("config get", house, async () => (await import("./commands/config/get.js")).getCommand),
  entry("config set", house, async () => (await import("./commands/config/set.js")).setCommand),
  entry("doctor", house, async () => (await import("./commands/doctor.js")).doctorCommand),
  entry("gc", house, async () => (await import("./commands/gc.js")).gcCommand),
  entry("completion", house, async () => (await import("./commands/completion.js")).completionCommand),
  entry("help", house, async () => (await import("./commands/help.js")).helpCommand),
  {
    ...entry("__complete", house, async () => (await import("./commands/complete.js")).completeCommand),
    isHidden: true,
  },
]

function entry(name: string, group: string, load: () => Promise<Command>): CommandEntry {
  return { name, group, load }
}
