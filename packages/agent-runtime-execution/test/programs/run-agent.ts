/** An agent on a log in a file, to be killed: `run-agent FOLDER`. Goes on from what the log holds; exits when done. */
import { appendFileSync, existsSync, fsyncSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs"
import { join } from "node:path"
import { type Entry, type EventDraft, foldHistory, isDurableEvent, type SessionId } from "@ku0/agent-runtime-core"
import {
  createScriptedModel,
  createTodoList,
  createTools,
  createWorkspace,
  parseScript,
  runAgentLoop,
} from "../../src/index.js"

const folder = process.argv[2] as string
const logPath = join(folder, "log.jsonl")
const entries = readEntries()
const log = openSync(logPath, "a")
const history = foldHistory(entries)
const startAt = history.messages.filter(({ role }) => role === "assistant").length
const workspace = createWorkspace({ workspacePath: join(folder, "workspace") })
const effect = {
  name: "effect",
  description: "Leaves a line.",
  parameters: { type: "object" },
  hasEffects: true,
  async run(_args: unknown, { callId }: { callId: string }) {
    appendFileSync(join(folder, "effects"), `${callId}\n`)
    await new Promise((resolve) => setTimeout(resolve, 2))
    return { content: "left" }
  },
}

const { outcome } = await runAgentLoop({
  model: createScriptedModel({ answers: parseScript(readFileSync(join(folder, "script.jsonl"), "utf8")), startAt }),
  tools: [effect, ...createTools({ workspace, env: { PATH: "/usr/bin:/bin" }, todo: createTodoList() })],
  history,
  ...(history.messages.length === 0 ? { prompt: "go" } : {}),
  emit: async (events) => append(events),
  clock: { now: () => Date.now() },
  ids: { next: () => `${process.pid}-${process.hrtime.bigint()}` },
  inDoubt: ({ known }) => (known.isApplied === true ? "done" : known.isApplied === false ? "retry" : "skip"),
})
process.exit(outcome === "completed" ? 0 : 1)

/** All or none: one line, then a sync. */
function append(events: readonly EventDraft[]): void {
  const durable = events.filter(({ type }) => isDurableEvent(type))
  if (durable.length === 0) return
  writeSync(log, `${JSON.stringify(durable)}\n`)
  fsyncSync(log)
}

/** A line that a death cut off never was. */
function readEntries(): Entry[] {
  const text = existsSync(logPath) ? readFileSync(logPath, "utf8") : ""
  const whole = text.slice(0, text.lastIndexOf("\n") + 1)
  if (whole.length < text.length) truncateSync(logPath, Buffer.byteLength(whole))
  const drafts = whole.split("\n").flatMap((line) => (line === "" ? [] : (JSON.parse(line) as EventDraft[])))
  const place = { sessionId: "s" as SessionId, version: 1, createdAt: 0, messageIndex: 0, parent: null }
  return drafts.map((draft, index) => ({ ...place, ...draft, seq: index + 1 }))
}
