/** `config set`: changes a setting of the user, or of the workspace. */
import { dirname } from "node:path"
import { configKeys, KeepupError, parseConfigValue, writeFileAtomic } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import { makeFolder } from "../../make-folder.js"
import { readJson, userFile, workspaceFile } from "../../open-workspace.js"
import { oneLine } from "../../output/text.js"
import { showValue } from "./list.js"

export const setCommand: Command = {
  summary: "change a setting, yours or the workspace's",
  arguments: [
    { name: "KEY", summary: "the setting", completes: "setting" },
    { name: "VALUE?", summary: "the new value; lists with commas, times like 30s, sizes like 50MB" },
  ],
  options: [
    { flags: "--project", summary: "in .keepup/config.json of this workspace, for everyone who works there" },
    { flags: "--unset", summary: "back to the default" },
  ],
  examples: [
    { command: "keepup config set checkpoint.retention 20", does: "Keep more automatic checkpoints" },
    { command: "keepup config set --project capture.include .env,dist/**", does: "Keep these ignored files too, here" },
  ],
  exits: [],
  async run(context, input) {
    const key = input.argument("KEY")
    const text = input.optional("VALUE")
    const isUnset = input.flag("unset")
    if ((text === undefined) !== isUnset) {
      throw new KeepupError("INVALID_INPUT", "Give a value, or --unset.", {
        hint: "`keepup config list` shows the settings.",
      })
    }
    const value = isUnset ? undefined : parseConfigValue(key, text)
    const file = input.flag("project") ? workspaceFile(context.workspacePath) : userFile(context.machine)
    const settings = flatten(readJson(file))
    // a key that nobody knows is a slip, unless it stands there: then this is the way to be rid of it
    if (isUnset && !isSetting(key) && !Object.hasOwn(settings, key)) parseConfigValue(key, undefined)
    if (isUnset) delete settings[key]
    else settings[key] = value
    makeFolder(dirname(file), 0o755)
    await writeFileAtomic(file, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o644 })
    context.answer({ key, value: value ?? null, file }, () =>
      isUnset
        ? `${key} is no longer set in ${oneLine(file)}.`
        : `${key} is now ${showValue(value)}, in ${oneLine(file)}.`,
    )
  },
}

function isSetting(key: string): boolean {
  return (configKeys as readonly string[]).includes(key)
}

/** Settings written as objects in objects become keys with dots. */
function flatten(value: unknown, prefix = ""): Record<string, unknown> {
  if (typeof value !== "object" || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? Object.entries(flatten(inner, `${prefix}${name}.`))
        : [[`${prefix}${name}`, inner]],
    ),
  )
}
