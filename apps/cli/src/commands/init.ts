/** `init`: prepares a workspace: the store, and with `--project` a database of its own. */
import { accessSync, appendFileSync, constants, existsSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fromFileError, openSnapshotStore, placesIn, writeFileAtomic } from "@ku0/agent-runtime"
import type { Command } from "../command.js"
import { ensureStateDirectory } from "../context.js"
import { readJson, readSettings, workspaceFile } from "../open-workspace.js"
import { oneLine } from "../output/text.js"
import { toRefusal } from "../references.js"

export const initCommand: Command = {
  summary: "prepare this workspace",
  description: [
    "Nothing needs to be prepared before keepup is used; this checks that everything can be, and says where things will lie. " +
      "With --project the database lies in the workspace, as .agents/sessions.db, which is added to .gitignore; snapshots stay " +
      "in the state directory.",
  ],
  options: [{ flags: "--project", summary: "keep the database in the workspace" }],
  examples: [
    { command: "keepup init", does: "Does everything work here?" },
    { command: "keepup init --project", does: "Let the sessions travel with the folder" },
  ],
  exits: ["UNAVAILABLE"],
  async run(context, input) {
    const { workspacePath, stateDirectory, machine, flags } = context
    const file = workspaceFile(workspacePath)
    const { environment, homeDirectory, clock } = machine
    // before anything is written: a folder that is no workspace is refused
    ensureStateDirectory(stateDirectory)
    requireWritable(stateDirectory)
    const snapshots = openSnapshotStore({ workspacePath, stateDirectory, environment, homeDirectory, clock })
    await snapshots.then(
      (opened) => opened.close(),
      (error: unknown) => {
        throw toRefusal(error, context)
      },
    )
    if (input.flag("project")) {
      const settings = (readJson(file) ?? {}) as Record<string, unknown>
      mkdirSync(join(workspacePath, ".keepup"), { recursive: true })
      await writeFileAtomic(file, `${JSON.stringify({ ...settings, storage: "project" }, null, 2)}\n`, { mode: 0o644 })
      ignore(workspacePath)
    }
    const { config } = readSettings(context)
    await context.openRuntime()
    const db = flags.db ?? environment["KEEPUP_DB"]
    const places = placesIn(stateDirectory, { ...(db && { db }), storage: config.storage, workspacePath })
    const database = places.db.replace(/\/\/.*@/, "//")
    context.answer({ workspacePath, stateDirectory, db: database, storage: config.storage }, () =>
      [
        `Ready: ${oneLine(workspacePath)}`,
        `  database   ${oneLine(database)}`,
        `  snapshots  ${oneLine(join(stateDirectory, "snapshots"))}`,
        "Keep what is here now with: keepup checkpoint create",
      ].join("\n"),
    )
  },
}

/** What is there can be read without it; nothing new can be kept. */
function requireWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw fromFileError(error, `write to ${folder}`)
  }
}

/** The database changes all the time: it is not for the user's repository. */
function ignore(workspacePath: string): void {
  if (!existsSync(join(workspacePath, ".git"))) return
  const file = join(workspacePath, ".gitignore")
  const text = existsSync(file) ? readFileSync(file, "utf8") : ""
  const lines = text.split(/\r?\n/)
  const missing = [".agents/sessions.db", ".agents/sessions.db-*"].filter((line) => !lines.includes(line))
  if (missing.length === 0) return
  const end = text === "" || text.endsWith("\n") ? "" : "\n"
  appendFileSync(file, `${end}${missing.join("\n")}\n`)
}
