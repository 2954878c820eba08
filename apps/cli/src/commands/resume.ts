/** `resume`: goes on with a session from its head, or from a checkpoint. */
import { KeepupError } from "@ku0/agent-runtime"
import type { Command } from "../command.js"
import { getCheckpoint, getSession } from "../references.js"
import { agentOptions, runAgent } from "../run-agent.js"

export const resumeCommand: Command = {
  summary: "go on with a session that was paused, interrupted or rewound",
  description: [
    "The agent goes on from where the history ends, with the model or script it had. A tool call that was in flight when its " +
      "process died is shown with a choice: skip it, retry it, or say that it is done.",
  ],
  arguments: [{ name: "SESSION?", summary: "an id or a part of it, a name, or latest", completes: "session" }],
  options: [
    { flags: "--from <CHECKPOINT>", summary: "go back to this checkpoint first", completes: "checkpoint" },
    { flags: "--prompt <TEXT>", summary: "something to tell the agent first" },
    ...agentOptions,
  ],
  examples: [
    { command: "keepup resume", does: "Go on with what was cut off" },
    { command: "keepup resume 4f1c9a20 --from 3", does: "Go on from an earlier point" },
  ],
  exits: ["NOT_FOUND", "SESSION_RUNNING", "CONFLICT", "UNAUTHORIZED"],
  async run(context, input) {
    const session = await getSession(context, input.optional("SESSION") ?? context.flags.session)
    const reference = input.option("from")
    const from = reference === undefined ? undefined : await getCheckpoint(context, session, reference)
    const prompt = input.option("prompt")
    if (session.messageCount === 0 && prompt === undefined) {
      throw new KeepupError("INVALID_INPUT", "This session has no conversation to go on with.", {
        hint: "Say what is to be done: keepup resume --prompt TEXT",
      })
    }
    await runAgent(context, input, { session, ...(from && { from }), ...(prompt !== undefined && { prompt }) })
  },
}
