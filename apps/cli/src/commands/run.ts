/** `run`: starts a session with a prompt and lets the built-in agent work on it. */
import { KeepupError, type Session, type Store } from "@ku0/agent-runtime"
import type { Command } from "../command.js"
import { cut, oneLine } from "../output/text.js"
import { getSession, parseSessionName, requireWorkspace } from "../references.js"
import { agentOptions, runAgent } from "../run-agent.js"

export const runCommand: Command = {
  summary: "let the built-in agent work on a prompt",
  description: [
    "Starts a new session, or goes on in the one -S names. Every step is on disk before it counts: killed at any instant, " +
      "`keepup resume` goes on from there, and a tool call that was done is never done again. Checkpoints are taken on the way.",
    "With --json the events of the run are JSON lines; the last line has ok, session and run.",
  ],
  arguments: [{ name: "PROMPT…", summary: "what the agent is to do" }],
  options: [...agentOptions, { flags: "--name <NAME>", summary: "the session's name; the prompt unless told" }],
  examples: [
    { command: 'keepup run "make the tests pass"', does: "A task, for the model that is set" },
    { command: 'keepup run "make the tests pass" --model anthropic/claude-sonnet-4-5', does: "For another model" },
    { command: 'keepup run "tidy up" --script answers.jsonl --approval auto', does: "Offline, from a script" },
  ],
  exits: ["NOT_FOUND", "SESSION_RUNNING", "UNAUTHORIZED"],
  async run(context, input) {
    const prompt = input.list("PROMPT").join(" ").trim()
    if (prompt === "") throw new KeepupError("INVALID_INPUT", "What is the agent to do?", { hint: "Give it a prompt." })
    const { store } = await context.openRuntime()
    if (context.flags.session === undefined) await requireWorkspace(context)
    const session =
      context.flags.session === undefined
        ? await store.sessions.create({
            workspacePath: context.workspacePath,
            name: parseSessionName(input.option("name") ?? cut(oneLine(prompt), 60)),
            agentType: "keepup",
            taskDescription: prompt,
          })
        : await getSession(context)
    try {
      await runAgent(context, input, { session, prompt })
    } catch (error) {
      if (context.flags.session === undefined) await forgetUnused(store, session)
      throw error
    }
  },
}

/** A run that could not begin, for want of a model or a script, leaves no empty session behind. */
async function forgetUnused(store: Store, { id }: Session): Promise<void> {
  const { messageCount, checkpointCount } = await store.sessions.get(id)
  if (messageCount === 0 && checkpointCount === 0) await store.sessions.delete(id)
}
