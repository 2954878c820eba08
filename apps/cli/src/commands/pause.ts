/** `pause`: asks a running session to stop at its next safe point. */
import { requestPause, sessionToJson, shortId } from "@ku0/agent-runtime"
import type { Command } from "../command.js"
import { oneLine } from "../output/text.js"
import { getSession } from "../references.js"

export const pauseCommand: Command = {
  summary: "ask a running session to stop at the next safe point",
  description: ["The call under way is finished, a checkpoint is kept, and `keepup resume` goes on from there."],
  arguments: [{ name: "SESSION?", summary: "an id or a part of it, a name, or latest", completes: "session" }],
  examples: [{ command: "keepup pause", does: "From another terminal" }],
  exits: ["NOT_FOUND", "CONFLICT"],
  async run(context, input) {
    const session = await getSession(context, input.optional("SESSION") ?? context.flags.session)
    const asked = await requestPause(await context.openRuntime(), session.id)
    context.answer(
      { session: sessionToJson(asked) },
      () => `Session ${shortId(session.id)} "${oneLine(session.name)}" will pause at its next safe point.`,
    )
  },
}
