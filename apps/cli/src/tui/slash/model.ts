/** `/model [provider/name]`: which model answers, or another one from now on. */
import { modelName } from "../session/open-session.js"
import { type SlashCommand, usageError } from "./slash-command.js"

export const modelCommand: SlashCommand = {
  name: "model",
  usage: "/model [provider/name]",
  summary: "which model answers, or another one from now on",
  isAlways: true,
  async run(chat, _, text) {
    const { scope } = chat
    const say = (words: string) => chat.say({ kind: "notice", level: "info", text: words, hint: undefined })
    const runtime = await scope.openRuntime()
    if (text === "") {
      const model = modelName(scope, runtime)
      return say(model === "" ? "No model is chosen. /model provider/name chooses one." : `The model is ${model}.`)
    }
    if (!/^[\w.-]+\/\S+$/.test(text)) throw usageError(modelCommand, `Not a model: ${JSON.stringify(text)}.`)
    // a name or a key that is missing is told now, not with the next message
    const { createModel } = await import("@ku0/agent-runtime-integrations")
    await createModel(text, { environment: scope.context.machine.environment })
    scope.choice = { script: undefined, model: text }
    scope.store.dispatch({ type: "status-changed", status: { model: text } })
    say(`The model is ${text} from the next message on.`)
  },
}
