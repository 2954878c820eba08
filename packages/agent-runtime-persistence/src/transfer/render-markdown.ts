/** A session for people: the conversation as text, tool calls folded, checkpoints marked with what changed in the files. */
import {
  type Checkpoint,
  type Entry,
  type Message,
  type Session,
  shortId,
  type ToolCall,
} from "@ku0/agent-runtime-core"
import type { SnapshotStore } from "../snapshot/snapshot-store.js"
import type { ExportOptions, TransferContext } from "./export-work.js"
import { createRedactor, type Redactor } from "./redactor.js"

const longestResult = 10_000
const listedFiles = 10

interface Page {
  readonly context: TransferContext
  readonly session: Session
  readonly redactor: Redactor | undefined
  readonly snapshots: SnapshotStore | undefined
  /** The newest checkpoint with files so far. */
  last: Checkpoint | undefined
}

/** Yields the document part by part. Nothing in it is needed to import a session; it is only to be read. */
export async function* renderMarkdown(context: TransferContext, options: ExportOptions): AsyncGenerator<string> {
  const { store } = context
  const session = await store.sessions.get(options.sessionId)
  const withFiles = options.snapshots !== false && options.redact !== true
  const page: Page = {
    context,
    session,
    redactor: options.redact === true ? createRedactor() : undefined,
    snapshots: withFiles ? await context.snapshots?.(session.workspacePath) : undefined,
    last: undefined,
  }
  yield renderFacts(page)
  for await (const entry of store.log.history({ sessionId: session.id, seq: session.headSeq })) {
    const part = await renderEntry(page, entry)
    if (part !== undefined) yield `\n${part}\n`
  }
}

function renderFacts({ session, redactor }: Page): string {
  const facts: [string, string][] = [
    ["Session", session.id],
    ["Status", session.status],
    ["Agent", session.agentType],
    ["Task", session.taskDescription],
    ["Workspace", session.workspacePath],
    ["Created", timeOf(session.createdAt)],
    ["Changed", timeOf(session.updatedAt)],
    ["Messages", String(session.messageCount)],
    ["Checkpoints", String(session.checkpointCount)],
  ]
  const rows = facts
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `| ${name} | ${inline(value, redactor)} |`)
  const note =
    redactor === undefined ? "" : "\nSecrets were taken out. Names and texts may be shorter than they were.\n"
  return `# ${inline(session.name, redactor)}\n\n| | |\n|---|---|\n${rows.join("\n")}\n${note}`
}

async function renderEntry(page: Page, entry: Entry): Promise<string | undefined> {
  if (entry.type === "message:added") {
    const { message } = entry.data as { message: Message }
    return renderMessage(page.redactor?.value(message) ?? message, entry)
  }
  if (entry.type === "checkpoint:created") return await renderCheckpoint(page, entry)
  if (entry.type === "session:interrupted") return `*Interrupted ${timeOf(entry.createdAt)}.*`
  if (entry.type === "history:rewind") return `*Went back to an earlier place ${timeOf(entry.createdAt)}.*`
  return undefined
}

function renderMessage(message: Message, entry: Entry): string {
  const title = (who: string) => `### ${entry.messageIndex}. ${who} · ${timeOf(entry.createdAt)}\n\n`
  switch (message.role) {
    case "user":
      return title("User") + message.content
    case "system":
      return title("System") + message.content
    case "assistant": {
      const calls = (message.toolCalls ?? []).map(renderCall)
      return title("Assistant") + [message.content, ...calls].filter((part) => part !== "").join("\n\n")
    }
    case "tool": {
      const what = `${message.isError === true ? "Error of" : "Result of"} ${message.name}`
      return fold(what, fence(shorten(message.content)))
    }
    case "summary":
    case "truncation": {
      const { from, to } = message.hides
      const what = message.role === "summary" ? "Summary of" : "Left out for the model:"
      return fold(`${what} messages ${from} to ${to}`, fence(message.content))
    }
    default:
      return title("Message") + fence(JSON.stringify(message, null, 2), "json")
  }
}

function renderCall(call: ToolCall): string {
  return fold(`Call of ${call.name}`, fence(shorten(JSON.stringify(call.arguments ?? {}, null, 2)), "json"))
}

async function renderCheckpoint(page: Page, entry: Entry): Promise<string | undefined> {
  const { checkpointId } = entry.data as { checkpointId: Checkpoint["id"] }
  const checkpoint = await page.context.store.checkpoints.find(checkpointId)
  if (checkpoint === undefined) return undefined // pruned since
  const { number, name, note, trigger, createdAt, snapshot, id } = checkpoint
  const parts = [trigger, timeOf(createdAt), `id ${shortId(id)}`]
  if (snapshot !== null) {
    parts.push(`${snapshot.filesChanged} files changed, +${snapshot.insertions} −${snapshot.deletions}`)
  }
  const label = name === null ? "" : ` “${inline(name, page.redactor)}”`
  const lines = [`> **Checkpoint #${number}${label}** · ${parts.join(" · ")}`]
  if (note !== null) lines.push(`> ${inline(note, page.redactor)}`)
  for (const line of await listChanges(page, checkpoint)) lines.push(`> - ${line}`)
  if (snapshot !== null) page.last = checkpoint
  return lines.join("\n")
}

/** What changed since the checkpoint before, a few files by name. Files that are not here are only counted. */
async function listChanges({ snapshots, last }: Page, { id, snapshot }: Checkpoint): Promise<string[]> {
  if (snapshots === undefined || snapshot === null || last?.snapshot == null) return []
  const kept = snapshots.listCheckpoints()
  if (!kept.has(id) || !kept.has(last.id)) return []
  const changes = await snapshots.diff(last.snapshot.commit, snapshot.commit)
  const lines = changes.slice(0, listedFiles).map((change) => {
    const counts = change.binary ? "binary" : `+${change.insertions} −${change.deletions}`
    return `${change.status} ${inline(change.path)} (${counts})`
  })
  return changes.length > listedFiles ? [...lines, `and ${changes.length - listedFiles} more`] : lines
}

function fold(title: string, body: string): string {
  const safe = title.replace(/[&<>]/g, (char) => ({ "&": "&amp;", "<": "&lt;" })[char] ?? "&gt;")
  return `<details>\n<summary>${safe.replace(/\s+/g, " ")}</summary>\n\n${body}\n\n</details>`
}

/** A fence that nothing in the text can close. */
function fence(text: string, language = ""): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const marks = "`".repeat(longest + 1)
  return `${marks}${language}\n${text}\n${marks}`
}

function shorten(text: string): string {
  if (text.length <= longestResult) return text
  return `${text.slice(0, longestResult)}\n… ${text.length - longestResult} more characters`
}

/** One line in which nothing is taken for markup. */
function inline(text: string, redactor?: Redactor): string {
  const clean = (redactor?.text(text) ?? text).replace(/\s+/g, " ").trim()
  return clean.replace(/[\\`*_[\]<>|#]/g, "\\$&")
}

function timeOf(time: number): string {
  return Number.isFinite(new Date(time).getTime())
    ? `${new Date(time).toISOString().slice(0, 19).replace("T", " ")} UTC`
    : "?"
}
