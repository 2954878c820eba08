/** A session is resumed: from the first line of code to the first question to the model, for a short and a long history. */
import { join } from "node:path"
import { table } from "../harness/report.mjs"
import { interleave } from "../harness/rounds.mjs"
import { createGatedModel, environment, loadKeepup, makeWorkspace } from "./keepup.mjs"

const sizes = [100, 10_000]

export async function resume(context) {
  const keepup = await loadKeepup()
  if (!keepup) return {}
  const folder = context.scratch.folder("agent-resume")
  const made = []
  for (const size of sizes) made.push(await makeSession(keepup, join(folder, String(size)), size))
  const contestants = {}
  const open = new Map()
  for (const [index, size] of sizes.entries()) {
    const { place, sessionId } = made[index]
    contestants[`open and resume ${size}`] = async () => {
      const runtime = await keepup.openRuntime({ ...place, environment })
      open.set("last", await resumeOnce(keepup, runtime, sessionId))
    }
    contestants[`resume ${size}`] = async () => {
      open.set("last", await resumeOnce(keepup, open.get("runtime"), sessionId))
    }
  }
  const { rows } = await interleave(contestants, {
    rounds: context.quick ? 15 : 40,
    warmup: 3,
    async before(name) {
      if (name.startsWith("resume")) {
        const { place } = made[sizes.indexOf(Number(name.split(" ").at(-1)))]
        open.set("runtime", await keepup.openRuntime({ ...place, environment }))
      }
    },
    after: () => open.get("last").end(),
  })
  const body = Object.entries(rows).map(([name, row]) => [`${name} entries`, row.median, row.min])
  context.print("Agent: from a resume to the first question to the model", table(["what", "med ms", "min ms"], body))
  return rows
}

async function resumeOnce(keepup, runtime, sessionId) {
  const model = createGatedModel(() => ({}))
  const stop = new AbortController()
  const run = keepup.runSession(runtime, { model, sessionId, signal: stop.signal })
  run.catch(() => undefined)
  await Promise.race([model.asked(), run])
  return {
    /** The question stays without an answer, so that the next resume finds the same place; the log grows a little. */
    async end() {
      stop.abort()
      await run
      await runtime.close()
    },
  }
}

/** A session of so many entries, as a run makes them, that waits for the model. */
async function makeSession(keepup, folder, size) {
  const place = { stateDirectory: join(folder, "state"), workspacePath: makeWorkspace(join(folder, "workspace"), true) }
  const runtime = await keepup.openRuntime({ ...place, environment })
  const { store, workspacePath } = runtime
  const session = await store.sessions.create({ workspacePath, name: "bench" })
  const message = (one) => ({ type: "message:added", data: { message: one } })
  await store.log.append(session.id, [
    { type: "run:started", data: { runId: "bench", model: "bench" } },
    message({ role: "user", content: "Look at the files." }),
  ])
  for (let turn = 1; ; turn++) {
    const { headSeq } = await store.sessions.get(session.id)
    if (headSeq >= size - 8) break
    const [name, args] = ["read_file", { path: `src/part-${turn % 20}/file-${turn % 20}.ts` }]
    const callId = keepup.stableCallId(name, args, turn, 0)
    const state = { fileContext: { version: 1, contexts: { [session.id]: [known(turn)] } } }
    await store.log.append(session.id, [{ type: "turn:started", data: { runId: "bench", turn } }])
    await store.log.append(session.id, [
      message({ role: "assistant", content: `Step ${turn}.`, toolCalls: [{ id: callId, name, arguments: args }] }),
      { type: "tool:started", data: { callId, name, arguments: args } },
    ])
    const ended = [
      { type: "tool:ended", data: { callId, name, outcome: "ok", durationMs: 1 } },
      message({ role: "tool", callId, name, content: `export const value = ${turn}\n`.repeat(25) }),
      { type: "turn:ended", data: { runId: "bench", turn, outcome: "completed" } },
    ]
    await store.checkpoints.create({ sessionId: session.id, trigger: "turn.ended", entries: ended, state })
  }
  await store.log.append(session.id, [
    { type: "run:ended", data: { runId: "bench", outcome: "paused" } },
    { type: "session:paused", data: { reason: "requested" } },
  ])
  await runtime.close()
  return { place, sessionId: session.id }
}

const known = (turn) => ({
  path: `src/part-${turn % 20}/file-${turn % 20}.ts`,
  status: "active",
  recordSource: "read_tool",
  hash: "0".repeat(64),
  lastReadAt: turn,
})
