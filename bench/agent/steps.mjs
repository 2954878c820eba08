/** What durability adds to a step: the same loop and tools, with everything kept, and with a list in memory. */
import { join } from "node:path"
import { flush } from "../harness/disk.mjs"
import { progress, table } from "../harness/report.mjs"
import { interleave } from "../harness/rounds.mjs"
import { median, quiet } from "../harness/stats.mjs"
import { createGatedModel, environment, loadKeepup, makeWorkspace } from "./keepup.mjs"

/** A step that changes no file: the model reads one, a different one each time. */
const readStep = (step) => ({
  content: `Step ${step}: I look at the next file.`,
  toolCalls: [
    {
      id: "x",
      name: "read_file",
      arguments: { path: `src/part-${step % 20}/file-${step % 20}.ts`, limit: 5 + (step % 7) },
    },
  ],
})

export async function steps(context) {
  const keepup = await loadKeepup()
  if (!keepup) return {}
  const rounds = context.quick ? 400 : 2_000
  const folder = context.scratch.folder("agent-steps")
  const contestants = {
    memory: await startMemory(keepup, makeWorkspace(join(folder, "memory"), true)),
    "durable, in git": await startDurable(keepup, folder, "git", true),
    "durable, without git": await startDurable(keepup, folder, "plain", false),
  }
  const { samples } = await interleave(
    Object.fromEntries(Object.entries(contestants).map(([name, { model }]) => [name, () => model.step()])),
    {
      rounds,
      warmup: 20,
      quietEvery: 10,
      before: (_, round) => (round % 100 === 0 ? flush(folder) : undefined),
      beforeRound: (round) => (round % 200 === 0 ? progress(`step ${round} of ${rounds}`) : undefined),
    },
  )
  for (const { end } of Object.values(contestants)) await end()
  return report(context, rounds, samples)
}

function report(context, rounds, samples) {
  const result = { rounds }
  const rows = Object.entries(samples).map(([name, values]) => {
    const added = values.map((value, index) => value - samples.memory[index])
    const part = Math.floor(rounds / 10)
    const row = {
      median: median(values),
      quiet: quiet(values),
      addedMedian: median(added),
      addedQuiet: quiet(values) - quiet(samples.memory),
      first: quiet(values.slice(0, part)) - quiet(samples.memory.slice(0, part)),
      last: quiet(values.slice(-part)) - quiet(samples.memory.slice(-part)),
    }
    result[name] = { ...row, growth: row.last / row.first }
    return [name, row.median, row.quiet, row.addedMedian, row.addedQuiet, row.first, row.last]
  })
  context.print(
    `Agent: ${rounds} steps without file changes`,
    table(["loop", "med ms", "quiet ms", "adds, med", "adds, quiet", "in the first tenth", "in the last"], rows),
  )
  return result
}

async function startDurable(keepup, folder, name, isInGit) {
  const workspacePath = makeWorkspace(join(folder, name), isInGit)
  const runtime = await keepup.openRuntime({
    stateDirectory: join(folder, `${name}-state`),
    workspacePath,
    environment,
  })
  const model = createGatedModel(readStep)
  const run = keepup.runSession(runtime, { model, prompt: "Look at the files.", maxSteps: 1_000_000 })
  run.catch(() => undefined)
  await Promise.race([model.asked(), run])
  return {
    model,
    async end() {
      model.end()
      await run
      await runtime.close()
    },
  }
}

/** The same loop with the same tools; what it emits is put on a list. */
async function startMemory(keepup, workspacePath) {
  const entries = []
  const tracker = keepup.createFileContextTracker({ workspacePath })
  const todo = keepup.createTodoList()
  const workspace = keepup.createWorkspace({ workspacePath })
  const model = createGatedModel(readStep)
  const run = keepup.runAgentLoop({
    model,
    tools: keepup.createTools({ workspace, context: tracker.getHandle("bench"), todo, env: environment }),
    history: keepup.foldHistory([]),
    emit: async (events) => entries.push(...events),
    clock: { now: () => Date.now() },
    ids: { next: () => "run" },
    takeChangedState: keepup.collectState({ fileContext: tracker, todo }),
    prompt: "Look at the files.",
    maxSteps: 1_000_000,
  })
  run.catch(() => undefined)
  await Promise.race([model.asked(), run])
  return {
    model,
    async end() {
      model.end()
      await run
      await tracker.dispose()
    },
  }
}
