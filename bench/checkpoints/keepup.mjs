/** Checkpoints bundled from source, put together as the runtime does it; null as long as they can't be bundled. */
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { bundle } from "../harness/build.mjs"
import { storeOptions } from "../snapshots/keepup.mjs"

let loaded

export async function loadKeepup() {
  loaded ??= bundle("checkpoints/keepup-entry.ts", "esm").then((file) => file && import(pathToFileURL(file).href))
  return loaded
}

/** A session in a workspace with its database, its snapshots and git's facts. `onStep` hears the snapshots' steps. */
export async function openSession(keepup, workspacePath, folder, { watch = false, onStep } = {}) {
  const options = storeOptions(workspacePath, folder)
  const store = await keepup.openStore(`sqlite:${join(folder, "keepup.db")}`, { clock: options.clock })
  const snapshots = await keepup.openSnapshotStore({ ...options, ...(onStep && { onStep }) })
  if (watch && !(await snapshots.watch())) throw new Error("This system can't watch files.")
  const manager = keepup.createCheckpointManager({
    store,
    snapshots: async () => snapshots,
    gitFacts: () => keepup.readGitFacts({ workspacePath, environment: options.environment }),
    gitSignature: keepup.readGitSignature,
  })
  const session = await store.sessions.create({ workspacePath, name: "bench" })
  return {
    store,
    snapshots,
    manager,
    sessionId: session.id,
    take: (more = {}) => manager.take({ sessionId: session.id, trigger: "turn.ended", ...more }),
    async close() {
      await snapshots.close()
      await store.close()
    },
  }
}

/** The entries of one turn: what was asked and what was answered. */
export function turnEntries(question, answer) {
  const message = (role, content) => ({ type: "message:added", data: { message: { role, content } } })
  return [message("user", question), message("assistant", answer)]
}
