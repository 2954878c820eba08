/** `chat`: talk to the agent in the terminal, see its work become checkpoints, and travel. */
import { type ApprovalMode, KeepupError } from "@ku0/agent-runtime"
import type { Command } from "../command.js"
import { wantsColour } from "../context.js"
import { createStyles } from "../output/text.js"
import { agentOptions } from "../run-agent.js"
import { openChat } from "../tui/session/open-chat.js"

export const chatCommand: Command = {
  summary: "talk to the agent in the terminal; the same as keepup alone",
  description: [
    "Answers stream in, tool calls are shown as they happen, and every step becomes a checkpoint you can go back to without " +
      "leaving. Type /help inside for the commands and the keys.",
    "Begins a new session, or goes on with the one -S names. Killed at any instant nothing is lost: the next start offers to " +
      "go on.",
  ],
  options: agentOptions.filter(({ flags }) => !flags.startsWith("--in-doubt")),
  examples: [
    { command: "keepup chat", does: "Begin" },
    { command: "keepup chat -S latest", does: "Go on with the newest session here" },
    { command: "keepup chat --script answers.jsonl", does: "Offline, from a script" },
  ],
  exits: ["NOT_FOUND", "UNAVAILABLE"],
  async run(context, input) {
    const { machine, flags } = context
    if (!machine.canAsk || !machine.stdout.isTerminal || flags.json) {
      throw new KeepupError("INVALID_INPUT", "The chat needs a terminal.", {
        hint: "Without one use `keepup run PROMPT`.",
      })
    }
    const hasColour = wantsColour(flags, machine, true)
    const chat = openChat({
      context,
      choice: { script: input.option("script"), model: input.option("model") },
      approval: input.option("approval") as ApprovalMode | undefined,
      maxSteps: input.count("max-steps"),
      reference: flags.session,
      hasColour,
    })
    const { openScreen } = await import("../tui/views/open-screen.js")
    const screen = await openScreen({
      controller: chat.controller,
      stdin: process.stdin,
      stdout: process.stdout,
      styles: createStyles(hasColour),
      now: () => machine.clock.now(),
    })
    const onHangUp = () => chat.controller.leave()
    process.on("SIGHUP", onHangUp)
    context.signal.addEventListener("abort", onHangUp, { once: true })
    try {
      await context.uninterrupted(async () => {
        try {
          await chat.start()
        } catch (error) {
          await screen.ended
          throw error
        }
        await Promise.all([chat.left, screen.ended])
      })
    } finally {
      process.off("SIGHUP", onHangUp)
    }
    const { farewell } = chat.controller.getState()
    if (farewell !== "") machine.stdout.write(`${farewell}\n`)
  },
}
