/**
 * The LangGraph SQLite saver in a process of its own: one `put` per turn of a checkpoint whose `messages` channel holds the
 * whole conversation, as its graph hands it over. A real graph also writes an input checkpoint and pending writes each turn;
 * they are left out in its favour. Its database keeps its own defaults (WAL, synchronous=NORMAL).
 */
import { AIMessage, HumanMessage } from "@langchain/core/messages"
import { uuid6 } from "@langchain/langgraph-checkpoint"
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite"
import { turnState, turnText } from "./conversation.mjs"

const saver = SqliteSaver.fromConnString(process.argv[2])
const messages = []
let config = { configurable: { thread_id: "bench", checkpoint_ns: "" } }

async function turn(number) {
  const Message = number % 2 === 0 ? HumanMessage : AIMessage
  messages.push(new Message({ id: `message-${number}`, content: turnText(number) }))
  const checkpoint = {
    v: 4,
    id: uuid6(number),
    ts: new Date().toISOString(),
    channel_values: { messages: [...messages], ...turnState(number) },
    channel_versions: { __start__: 1, messages: number + 2, progress: number + 2 },
    versions_seen: { __input__: {}, agent: { messages: number + 1 } },
  }
  config = await saver.put(config, checkpoint, { source: "loop", step: number, parents: {} })
}

process.on("message", async ({ from, to }) => {
  const times = []
  for (let number = from; number < to; number++) {
    const start = performance.now()
    await turn(number)
    times.push(performance.now() - start)
  }
  process.send({ times })
})

process.on("disconnect", () => {
  saver.db.close()
  process.exit(0)
})
