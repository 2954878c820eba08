/**
 * Tests run our packages under the export condition "source". Some npm packages (eventsource-parser, below the AI SDK)
 * use the same name for TypeScript that Node can't load, so inside node_modules the condition does not count.
 */
import { register } from "node:module"

const hook = `export function resolve(specifier, context, next) {
  if (!context.parentURL?.includes("/node_modules/")) return next(specifier, context)
  return next(specifier, { ...context, conditions: context.conditions.filter((name) => name !== "source") })
}`

let isDone = false

/** To be called before anything loads the SDK; `openModelServer` does. */
export function ignoreSourceCondition(): void {
  if (!isDone) register(`data:text/javascript,${encodeURIComponent(hook)}`)
  isDone = true
}
