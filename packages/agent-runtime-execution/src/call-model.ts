/** One answer of the model: asked again when the trouble may pass, given up when it will not. */
import { event, type KeepupError, type Message, type ModelAnswer, toKeepupError } from "@ku0/agent-runtime-core"
import { readModelFailure, retryDelay } from "./retry-policy.js"
import type { RunScope } from "./run-scope.js"
import { untilAborted } from "./sleep.js"

export type ModelOutcome =
  | { readonly kind: "answered"; readonly answer: ModelAnswer }
  | { readonly kind: "failed"; readonly error: KeepupError }
  | { readonly kind: "cancelled" }

/** Asks the model for the next message. Never rejects for what the model does. */
export async function callModel(run: RunScope, messages: readonly Message[], turn: number): Promise<ModelOutcome> {
  const { model, clock } = run.options
  const tools = [...run.tools.values()].map(({ name, description, parameters }) => ({ name, description, parameters }))
  for (let attempt = 1; ; attempt++) {
    let isOver = false
    const onDelta = (text: string): void => {
      if (!isOver && text !== "") run.fleeting.push(event("message:delta", { text, turn, attempt }))
    }
    try {
      // A model that does not mind the signal is not waited for.
      const answer = await untilAborted(model.answer({ messages, tools, signal: run.signal }, onDelta), run.signal)
      return { kind: "answered", answer: checkAnswer(answer) }
    } catch (thrown) {
      isOver = true
      if (run.signal.aborted) return { kind: "cancelled" }
      const { error, isRetryable, retryAfterMs } = readModelFailure(thrown, clock.now())
      const isTooLong = retryAfterMs !== undefined && retryAfterMs > run.retry.maxRetryAfterMs
      run.logger.warn("the model failed", { turn, attempt, code: error.code, isRetryable })
      if (!isRetryable || isTooLong || attempt >= run.retry.attempts) return { kind: "failed", error }
      try {
        await run.sleep(retryDelay(run.retry, attempt, retryAfterMs, run.random()), run.signal)
      } catch (reason) {
        return run.signal.aborted ? { kind: "cancelled" } : { kind: "failed", error: toKeepupError(reason) }
      }
    }
  }
}

/** Models come from outside: what they answer is looked at once. */
function checkAnswer(answer: ModelAnswer): ModelAnswer {
  const isAnswer =
    typeof answer?.content === "string" &&
    Array.isArray(answer.toolCalls) &&
    answer.toolCalls.every((call) => typeof call?.name === "string")
  if (!isAnswer) throw new TypeError("The model's answer is not an answer: it needs content and toolCalls.")
  return answer
}
