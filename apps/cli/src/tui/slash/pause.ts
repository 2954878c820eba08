/** `/pause`: stops at the next safe point and keeps a checkpoint. */
import { requestPause } from "@ku0/agent-runtime"
import { refreshStatus } from "../session/open-session.js"
import { openStore, requireSession, type SlashCommand } from "./slash-command.js"

export const pauseCommand: SlashCommand = {
  name: "pause",
  usage: "/pause",
  summary: "stop at the next safe point and keep a checkpoint",
  isForRunning: true,
  async run(chat) {
    const { scope } = chat
    const session = requireSession(chat)
    const say = (text: string) => chat.say({ kind: "notice", level: "info", text, hint: undefined })
    const runtime = await scope.openRuntime()
    if (chat.isRunning()) {
      await requestPause(runtime, session.id)
      return say("The session will pause at its next safe point.")
    }
    const store = await openStore(chat)
    if ((await store.sessions.get(session.id)).phase === "idle") {
      await runtime.manager.take({ sessionId: session.id, trigger: "manual", allowEmpty: false })
      await store.log.append(session.id, [{ type: "session:paused", data: { reason: "requested" } }])
    }
    await refreshStatus(scope)
    say("Paused, and kept in a checkpoint. Send a message to go on.")
  },
}
