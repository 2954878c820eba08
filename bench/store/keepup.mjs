/** keepup's store, bundled from source; null as long as it can't be bundled. */
import { pathToFileURL } from "node:url"
import { bundle } from "../harness/build.mjs"

let loaded

export async function loadKeepup() {
  loaded ??= bundle("store/keepup-entry.ts", "esm").then((file) => file && import(pathToFileURL(file).href))
  return loaded
}

export const message = (number, text) => ({
  type: "message:added",
  data: { message: { role: number % 2 === 0 ? "user" : "assistant", content: text } },
})

/** A store with one session, to which turns are added. */
export async function openKeepup(file) {
  const keepup = await loadKeepup()
  if (!keepup) return null
  const store = await keepup.openStore(`sqlite:${file}`)
  const session = await store.sessions.create({ workspacePath: "/bench", name: "bench" })
  return {
    store,
    session,
    /** Append, then a checkpoint record that points to it: two calls, two transactions. */
    async turn(number, text, state) {
      await store.log.append(session.id, [message(number, text)])
      await store.checkpoints.create({ sessionId: session.id, trigger: "turn.ended", state })
    },
    /** The same in one call and one transaction. */
    async step(number, text, state) {
      await store.checkpoints.create({
        sessionId: session.id,
        trigger: "turn.ended",
        state,
        entries: [message(number, text)],
      })
    },
    close: () => store.close(),
  }
}
