/** The part of core that needs zod, apart so that the rest loads without it. */
export { eventSchemas, messageSchema } from "./event-schemas.js"
export { type ParsedEvent, parseEvent, parseMessage } from "./parse-event.js"
