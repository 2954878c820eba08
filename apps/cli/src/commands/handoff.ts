/** `handoff`: what a person or an agent that takes over needs: the last checkpoints and how to go on. */
import { fillHandoffPath, KeepupError, readHandoff, renderHandoff, writeHandoffSection } from "@ku0/agent-runtime"
import type { Command } from "../command.js"
import { oneLine } from "../output/text.js"
import { getSession } from "../references.js"

export const handoffCommand: Command = {
  summary: "what whoever takes over needs to know",
  description: [
    "Prints the last five checkpoints with the commands to go on, secrets taken out. With --write the same is kept in the file " +
      "that the setting handoff.path names, between two markers; everything else in that file stays as it is.",
  ],
  options: [
    { flags: "--write", summary: "into the file handoff.path names" },
    { flags: "--path <FILE>", summary: "into this file of the workspace", completes: "file" },
  ],
  examples: [
    { command: "keepup handoff", does: "For the one who takes over" },
    { command: "keepup handoff --path .agents/HANDOFF.md", does: "Kept in a file" },
  ],
  exits: ["NOT_FOUND", "CONFLICT"],
  async run(context, input) {
    const session = await getSession(context)
    const runtime = await context.openRuntime()
    const handoff = await readHandoff(runtime.store, session.id)
    const template = input.option("path") ?? runtime.config["handoff.path"]
    if (!input.flag("write") && !input.has("path")) {
      const text = renderHandoff(handoff)
      context.answer({ sessionId: session.id, handoff: text }, () => text)
      return
    }
    if (template === "") {
      throw new KeepupError("INVALID_INPUT", "There is no file to write the handoff to.", {
        hint: "Name one with --path, or once and for all: keepup config set --project handoff.path .agents/HANDOFF.md",
      })
    }
    const { workspacePath } = session
    const git = await runtime.readGit(workspacePath)
    const path = fillHandoffPath({ template, workspacePath, session, branch: git?.branch ?? null })
    const { status, warning } = await writeHandoffSection({ path, workspacePath, handoff })
    if (warning !== undefined) context.warn(warning)
    context.answer({ sessionId: session.id, path, status, warning: warning ?? null }, () =>
      status === "left-alone"
        ? `${oneLine(path)} was left alone.`
        : `The handoff is in ${oneLine(path)}${status === "unchanged" ? ", unchanged" : ""}.`,
    )
  },
}
