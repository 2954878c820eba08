/** `checkpoint show`: everything in one checkpoint. */
import {
  type Checkpoint,
  checkpointToJson,
  listCheckpointFiles,
  type MessageNear,
  messagesAround,
  type Runtime,
  type Session,
  shortId,
} from "@ku0/agent-runtime"
import { describeFiles, isFirst } from "../../checkpoint-table.js"
import type { Command } from "../../command.js"
import type { Context } from "../../context.js"
import { type Fact, renderFacts } from "../../output/facts.js"
import { bytes, cut, manyLines, oneLine, pad } from "../../output/text.js"
import { dateTime, relativeTime } from "../../output/time.js"
import { getCheckpoint, getSession } from "../../references.js"

export const showCommand: Command = {
  summary: "everything in one checkpoint",
  arguments: [{ name: "REF", summary: "3, a name, latest, or a part of an id", completes: "checkpoint" }],
  options: [
    { flags: "--messages", summary: "the messages around it" },
    { flags: "--files", summary: "the files it holds" },
    { flags: "--state", summary: "what the agent handed over" },
  ],
  examples: [
    { command: "keepup checkpoint show 3", does: "What #3 is" },
    { command: "keepup checkpoint show latest --messages", does: "And what was said around it" },
  ],
  exits: ["NOT_FOUND"],
  async run(context, input) {
    const own = await getSession(context)
    const checkpoint = await getCheckpoint(context, own, input.argument("REF"))
    const runtime = await context.openRuntime()
    const session = await runtime.store.sessions.get(checkpoint.sessionId)
    const messages = input.flag("messages") ? await messagesAround(runtime, checkpoint, 5) : undefined
    const files = input.flag("files") ? await listCheckpointFiles(runtime, checkpoint) : undefined
    const state = input.flag("state") ? await readState(runtime, checkpoint) : undefined
    const count = await countFiles(runtime, checkpoint)
    const document = {
      checkpoint: checkpointToJson(checkpoint),
      ...(messages && { messages }),
      ...(files && { files: files.map(({ path, mode }) => ({ path, mode })) }),
      ...(state && { state }),
    }
    context.answer(document, () =>
      [
        renderCheckpoint(context, checkpoint, session, count),
        ...(messages ? [renderMessages(context, checkpoint, messages)] : []),
        ...(files
          ? [`${context.styles.bold("Files")}\n${files.map(({ path }) => `  ${oneLine(path)}`).join("\n")}`]
          : []),
        ...(state ? [`${context.styles.bold("State")}\n${renderState(context, state)}`] : []),
      ].join("\n\n"),
    )
  },
}

/** How many files a first checkpoint holds, if they are here to be counted. */
async function countFiles(runtime: Runtime, checkpoint: Checkpoint): Promise<number | undefined> {
  if (!isFirst(checkpoint)) return undefined
  return await listCheckpointFiles(runtime, checkpoint).then(
    (files) => files.length,
    () => undefined, // they may lie on another machine; everything else can be shown
  )
}

function renderState({ styles }: Context, state: Readonly<Record<string, unknown>>): string {
  if (Object.keys(state).length === 0) return styles.dim("  nothing was handed over")
  return manyLines(JSON.stringify(state, null, 2))
}

async function readState({ store }: Runtime, { sessionId, entrySeq }: Checkpoint): Promise<Record<string, unknown>> {
  return await store.state.get({ sessionId, seq: entrySeq })
}

function renderCheckpoint(
  { styles, now, width }: Context,
  checkpoint: Checkpoint,
  session: Session,
  count: number | undefined,
): string {
  const { git, snapshot } = checkpoint
  const rows: Fact[] = [
    ["Id", checkpoint.id],
    ["Session", `${oneLine(session.name)} (${shortId(session.id)})`],
    [
      "Taken",
      `${dateTime(checkpoint.createdAt)} (${relativeTime(checkpoint.createdAt, now)}), by ${checkpoint.trigger}`,
    ],
    ["Message", `#${checkpoint.messageIndex}`],
    [
      "Files",
      snapshot === null
        ? describeFiles(checkpoint)
        : `${describeFiles(checkpoint, count)}, snapshot ${snapshot.commit.slice(0, 12)}`,
    ],
  ]
  if (checkpoint.note !== null) rows.push(["Note", manyLines(checkpoint.note)])
  if (git !== null) {
    const at = git.head === null ? "" : ` at ${git.head.slice(0, 10)}`
    const operation = git.operation === null ? "" : `, ${git.operation} in progress`
    rows.push([
      "Git",
      `${git.branch ?? "no branch"}${at}, ${git.uncommitted} uncommitted, ${git.untracked} untracked${operation}`,
    ])
  }
  if (checkpoint.sizeBytes > 0) rows.push(["Size", bytes(checkpoint.sizeBytes)])
  if (checkpoint.pinned) rows.push(["Pinned", "yes"])
  const problem = checkpoint.metadata["snapshotError"] as { message?: string } | undefined
  if (problem?.message) rows.push(["Problem", oneLine(problem.message)])
  const skipped = (snapshot?.skipped ?? []).map(({ path, reason }) => `  ${oneLine(path)} (${reason})`)
  const title = `Checkpoint #${checkpoint.number}${checkpoint.name === null ? "" : ` "${oneLine(checkpoint.name)}"`}`
  return [
    styles.bold(title),
    renderFacts(rows, width, styles),
    ...(skipped.length > 0 ? ["", styles.magenta("Not in it, and never touched by a restore:"), ...skipped] : []),
  ].join("\n")
}

function renderMessages(
  { styles, width }: Context,
  { number }: Checkpoint,
  { before, after }: { before: readonly MessageNear[]; after: readonly MessageNear[] },
): string {
  const line = ({ index, message }: MessageNear) => {
    const calls = message.role === "assistant" ? (message.toolCalls ?? []).map(({ name }) => name) : []
    const text = [oneLine(message.content), ...calls.map((name) => `-> ${name}`)]
      .filter((part) => part !== "")
      .join(" ")
    return cut(`  ${String(index).padStart(4)}  ${pad(message.role, 9)}  ${text}`, width)
  }
  return [
    styles.bold("Messages"),
    ...before.map(line),
    styles.cyan(`  ---- checkpoint #${number} ----`),
    ...(after.length === 0 ? [styles.dim("  nothing yet")] : after.map(line)),
  ].join("\n")
}
