/** The part of core that needs zod, apart so that the rest loads without it. */

/** The same zod for schemas that others write, so that there is one copy and one place that declares it. */
export { z } from "zod"
export { eventSchemas, messageSchema } from "./event-schemas.js"
export { type ParsedEvent, parseEvent, parseMessage } from "./parse-event.js"
