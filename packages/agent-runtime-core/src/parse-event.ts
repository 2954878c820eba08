/** The door for events and messages from outside: unknown → typed, or `INVALID_INPUT`. */
import type { z } from "zod"
import { describeValue } from "./describe-value.js"
import { KeepupError } from "./errors.js"
import { eventSchemas, messageSchema } from "./event-schemas.js"
import { isKnownEvent, normalizeEventName } from "./events.js"
import type { Message } from "./messages.js"

export interface ParsedEvent {
  readonly type: string
  readonly data: unknown
}

/** Checks an event's name and data. An unknown event passes with any JSON object as its data. */
export function parseEvent(type: unknown, data: unknown): ParsedEvent {
  const name = typeof type === "string" ? normalizeEventName(type) : undefined
  if (name === undefined) {
    throw new KeepupError("INVALID_INPUT", `Not an event name: ${describeValue(type)}.`, {
      hint: "Event names look like subject:fact, in lower case, for example run:ended.",
    })
  }
  if (!isKnownEvent(name)) {
    if (typeof data !== "object" || data === null || Array.isArray(data)) {
      throw new KeepupError("INVALID_INPUT", `The data of ${name} must be a JSON object.`)
    }
    return { type: name, data }
  }
  return { type: name, data: check(eventSchemas[name], data, `data of ${name}`) }
}

/** Checks one message. */
export function parseMessage(value: unknown): Message {
  return check(messageSchema, value, "message") as Message
}

/** Checks and does not convert: what came in goes on with every key it had, also those a copy would lose. */
function check<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.infer<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return value as z.infer<Schema>
  const problems = result.error.issues.map((issue) => `${issue.path.join(".") || "(top)"}: ${issue.message}`)
  throw new KeepupError("INVALID_INPUT", `Not a valid ${what}: ${problems.slice(0, 5).join("; ")}.`, {
    details: { problems },
  })
}
