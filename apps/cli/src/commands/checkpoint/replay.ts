/** `checkpoint replay`: goes through the recorded history again, or proves that it leads where it led. */
import { type Checkpoint, type Entry, KeepupError, replayHistory, shortId, verifyReplay } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import type { Context } from "../../context.js"
import { renderEntry } from "../../output/entry.js"
import { plural } from "../../output/text.js"
import { getCheckpoint, getSession } from "../../references.js"
import { type RunChoice, renderTools, replayTools, toolsToJson } from "./replay-tools.js"

export const replayCommand: Command = {
  summary: "go through what happened after a checkpoint again",
  description: [
    "No model is called, and nothing is executed without --run. `--mode show` prints each step as it was recorded; `--mode verify` proves that " +
      "the recorded steps lead to the recorded state, message for message, and that every checkpoint on the way still has its files.",
    "With `--run tools` it also runs the calls of the built-in agent's tools again, in a copy of the files the checkpoint holds, and lists " +
      "every result and file that differs; `--run commands` runs the commands among them too, where the system can keep them away from " +
      "the workspace (Linux). The workspace is never touched.",
  ],
  arguments: [
    { name: "REF", summary: "where to begin: 3, a name, latest, or a part of an id", completes: "checkpoint" },
  ],
  options: [
    { flags: "--to <REF>", summary: "where to end; the head unless told", completes: "checkpoint" },
    { flags: "--mode <MODE>", summary: "what to do with it; show unless told", choices: ["show", "verify"] },
    {
      flags: "--run <WHAT>",
      summary: "with --mode verify: run the calls again in a copy",
      choices: ["tools", "commands"],
    },
    { flags: "--speed <N>", summary: "1 as fast as it was, 10 ten times as fast; all at once unless told" },
  ],
  examples: [
    { command: "keepup checkpoint replay 1", does: "Everything since #1" },
    { command: "keepup checkpoint replay 1 --to 3 --speed 10", does: "Watch it, ten times as fast" },
    { command: "keepup checkpoint replay 1 --mode verify", does: "Is it all still there?" },
    { command: "keepup checkpoint replay 1 --mode verify --run commands", does: "Would it happen again?" },
  ],
  exits: ["NOT_FOUND", "CORRUPT"],
  async run(context, input) {
    const session = await getSession(context)
    const from = await getCheckpoint(context, session, input.argument("REF"))
    const end = input.option("to")
    const to = end === undefined ? undefined : await getCheckpoint(context, session, end)
    const run = input.option("run") as RunChoice | undefined
    if (run !== undefined && input.option("mode") !== "verify") {
      throw new KeepupError("INVALID_INPUT", "--run needs --mode verify.", { hint: "Add `--mode verify`." })
    }
    if (input.option("mode") === "verify") await verify(context, from, to, run)
    else await show(context, from, to, parseSpeed(input.option("speed")))
  },
}

async function show(
  context: Context,
  from: Checkpoint,
  to: Checkpoint | undefined,
  speed: number | undefined,
): Promise<void> {
  const { store } = await context.openRuntime()
  let count = 0
  const options = { from, ...(to && { to }), ...(speed !== undefined && { speed }), signal: context.signal }
  for await (const entry of replayHistory(store, options)) {
    count++
    context.stream(entryToJson(entry), () => renderEntry(entry, context.styles, context.width))
  }
  context.remark(`${plural(count, "entry", "entries")} replayed; nothing was executed.`)
}

async function verify(
  context: Context,
  from: Checkpoint,
  to: Checkpoint | undefined,
  run: RunChoice | undefined,
): Promise<void> {
  const runtime = await context.openRuntime()
  const report = await verifyReplay(runtime, from, to)
  if (report.problems.length > 0) {
    throw new KeepupError(
      "CORRUPT",
      `The replay of session ${shortId(from.sessionId)} does not lead to what is recorded: ${report.problems.join("; ")}.`,
      {
        hint: "Run `keepup doctor`.",
        details: { problems: report.problems },
      },
    )
  }
  const { entries, messages, toolCalls, checkpoints } = report
  const replay = run && (await replayTools(context, from, to, run))
  const facts = { verified: true, entries, messages, toolCalls, checkpoints }
  context.answer({ ...facts, ...(replay && { replay: toolsToJson(replay) }) }, () =>
    [
      `Verified: ${plural(entries, "entry", "entries")} replayed from #${from.number} lead to the recorded state.`,
      `${plural(messages, "message")}, ${plural(toolCalls, "tool call")} each with its result, ${plural(checkpoints, "checkpoint")} with all their files.`,
      ...(replay === undefined ? [] : renderTools(replay)),
    ].join("\n"),
  )
}

function parseSpeed(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const speed = Number(text)
  if (speed > 0 && Number.isFinite(speed)) return speed
  throw new KeepupError("INVALID_INPUT", `--speed takes a number over 0, not ${JSON.stringify(text)}.`)
}

function entryToJson({ sessionId, seq, type, data, createdAt, messageIndex }: Entry) {
  return { sessionId, seq, type, createdAt, messageIndex, data }
}
