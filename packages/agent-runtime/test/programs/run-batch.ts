/**
 * Runs the programs of a batch side by side until all are through, or it dies: `run-batch FOLDER [STEP COUNT]`. Every
 * durable event it hears is acknowledged with a line on standard output, written before anything else happens.
 */
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { type BusEvent, type Model, openRuntime, type Runtime, runSession, type Session } from "../../src/index.js"
import type { AgentProgram, Batch, Turn } from "../crash/batch.js"

const [folder = "", deadlyStep, deadlyCount] = process.argv.slice(2)
const { programs } = JSON.parse(readFileSync(join(folder, "batch.json"), "utf8")) as Batch
const workspaceOf = (name: string) => join(folder, "workspaces", name)
let count = 0

function step(name: string): void {
  if (name === deadlyStep && ++count === Number(deadlyCount)) process.kill(process.pid, "SIGKILL")
}

function say(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

const digest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex")

/** Knows from the conversation alone who asks and how far that one is, so it is the same in every process. */
const scripts = new Map<string, readonly Turn[]>()
for (const { name, turns, helpers } of programs) {
  scripts.set(name, turns)
  for (const [task, turnsOfHelper] of Object.entries(helpers)) scripts.set(task, turnsOfHelper)
}
const model: Model = {
  name: "by-conversation",
  async answer({ messages }) {
    step("model asked")
    await new Promise((resolve) => setImmediate(resolve))
    const task = messages.find(({ role }) => role === "user")?.content ?? ""
    const calls = scripts.get(task)?.[messages.filter(({ role }) => role === "assistant").length]
    step("model answered")
    if (calls === undefined) return { content: `${task} is through`, toolCalls: [] }
    return { content: "", toolCalls: calls.map((call, index) => ({ id: `${index}`, ...call })) }
  },
}

for (const { name } of programs) mkdirSync(workspaceOf(name), { recursive: true })
const runtime = await openRuntime({
  stateDirectory: join(folder, "state"),
  workspacePath: workspaceOf(programs[0]?.name ?? ""),
  environment: { PATH: process.env["PATH"] },
})
watchSteps(runtime)
say({
  recovered: runtime.recovered.sessions.map(({ session, inDoubt }) => ({ id: session.id, inDoubt: inDoubt.length })),
})
await Promise.all(programs.map(runToEnd))
await runtime.close()

async function runToEnd(program: AgentProgram): Promise<void> {
  const workspacePath = workspaceOf(program.name)
  const own: Runtime = { ...runtime, workspacePath }
  let { policy } = program
  for (;;) {
    const known = await findSession(program.name, workspacePath)
    if (known?.status === "completed") return
    const { run, session } = await runSession(own, {
      model,
      inDoubt: policy,
      endSession: true,
      ...(known === undefined ? { name: program.name } : { sessionId: known.id }),
      ...(known === undefined || known.messageCount === 0 ? { prompt: program.name } : {}),
      onEvent: acknowledge,
    })
    say({ outcome: run.outcome, session: session.id, policy, ...(run.error && { error: run.error.message }) })
    if (run.outcome === "in-doubt") policy = "skip"
    else if (run.outcome === "failed" && policy !== "fail") throw run.error ?? new Error("The run failed.")
  }
}

async function findSession(name: string, workspacePath: string): Promise<Session | undefined> {
  const sessions = await runtime.store.sessions.list({ workspacePath, limit: 100 })
  return sessions.find(({ metadata, ...session }) => session.name === name && metadata["spawnedBy"] === undefined)
}

async function acknowledge({ type, entry }: BusEvent): Promise<void> {
  if (entry === undefined) return
  const { sessionId, seq, data } = entry
  say({ session: sessionId, seq, type, data: digest(data) })
  step(`heard ${type}`)
  if (type === "turn:ended")
    say({ session: sessionId, seq, fold: digest(await runtime.store.log.fold({ sessionId, seq })) })
}

/** Puts steps before and after every write of the log and every checkpoint, whoever makes it. */
function watchSteps({ store }: Runtime): void {
  const log = store.log as { append: typeof store.log.append }
  const { append } = log
  log.append = async (...args) => {
    step("before append")
    const entries = await append(...args)
    step("after append")
    return entries
  }
  const checkpoints = store.checkpoints as { create: typeof store.checkpoints.create }
  const { create } = checkpoints
  checkpoints.create = async (options) => {
    step("before checkpoint")
    const checkpoint = await create(options)
    step("after checkpoint")
    return checkpoint
  }
}
