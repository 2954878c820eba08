/** Subject `store`: the session log and checkpoint records against the floor and LangGraph's SQLite saver. */
import { cold } from "./cold.mjs"
import { conversation } from "./conversation-growth.mjs"
import { longSession } from "./long-session.mjs"

const parts = { conversation, longSession, cold }

export async function run(context) {
  for (const [name, part] of Object.entries(parts)) {
    if (context.only && !context.only.includes(name)) continue
    context.keep("store", name, await part(context))
  }
}
