/**
 * Tests run our packages under the export condition "source". Some npm packages (eventsource-parser, below the AI SDK)
 * use the same name for TypeScript that Node can't load, so inside node_modules the condition does not count. Import this
 * before anything that loads the SDK.
 */
import { register } from "node:module"

const hook = `export function resolve(specifier, context, next) {
  const isForeign = context.parentURL?.includes("/node_modules/")
  return next(specifier, isForeign ? { ...context, conditions: context.conditions.filter((name) => name !== "source") } : context)
}`

register(`data:text/javascript,${encodeURIComponent(hook)}`)
