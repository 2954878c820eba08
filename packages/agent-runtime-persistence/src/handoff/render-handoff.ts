/** What the next person or agent needs to go on: the last checkpoints and the commands to return to them. Short, no secrets. */
import { type Checkpoint, type Session, type SessionId, shortId } from "@ku0/agent-runtime-core"
import { redactSecrets } from "@ku0/agent-runtime-telemetry"
import type { Store } from "../store/open-store.js"

export interface Handoff {
  readonly session: Session
  /** Newest first; the first five are shown. */
  readonly checkpoints: readonly Checkpoint[]
}

const shown = 5
const mostBytes = 2_048
const mostLooked = 10_000
const lengths = { name: 40, branch: 30, task: 160, title: 60 } as const

export async function readHandoff(store: Store, sessionId: SessionId): Promise<Handoff> {
  const session = await store.sessions.get(sessionId)
  return { session, checkpoints: await store.checkpoints.list(sessionId, { limit: shown }) }
}

/** Markdown with LF and no end of line at its end. The same facts give the same text. */
export function renderHandoff({ session, checkpoints }: Handoff): string {
  const last = checkpoints.slice(0, shown)
  for (let count = last.length; ; count--) {
    const text = render(session, last.slice(0, count))
    if (count <= 1 || Buffer.byteLength(text) <= mostBytes) return text
  }
}

function render(session: Session, checkpoints: readonly Checkpoint[]): string {
  const id = shortId(session.id)
  const [newest] = checkpoints
  const paragraphs = ["## keepup checkpoints", describe(session)]
  if (newest === undefined) paragraphs.push("There is no checkpoint yet.")
  else {
    const rows = checkpoints.map((checkpoint) => renderRow(checkpoint, id))
    const head = ["| # | Name | Id | Time (UTC) | Branch | Return with |", "|---|---|---|---|---|---|"]
    paragraphs.push([...head, ...rows].join("\n"))
  }
  paragraphs.push(`Go on from where it stands: \`keepup resume ${id}\`.`, verifyOnResume(newest))
  return paragraphs.join("\n\n")
}

function describe(session: Session): string {
  const name = inline(session.name, lengths.title)
  const task = inline(session.taskDescription, lengths.task)
  const facts = `Session \`${shortId(session.id)}\` (${name}) is ${session.status}, ${session.messageCount} messages.`
  return task === "" ? facts : `${facts} Task: ${task}`
}

function renderRow({ number, name, trigger, id, createdAt, git }: Checkpoint, session: string): string {
  const label = name === null ? trigger : inline(name, lengths.name)
  const branch = git?.branch ? inline(git.branch, lengths.branch) : "–"
  const time = new Date(createdAt).toISOString().slice(0, 16).replace("T", " ")
  const command = `\`keepup resume ${session} --from '#${number}'\``
  return `| ${number} | ${label} | ${shortId(id)} | ${time} | ${branch} | ${command} |`
}

/** A handoff is a hint until someone has looked. */
function verifyOnResume(newest: Checkpoint | undefined): string {
  const git = newest?.git
  const there =
    git == null
      ? "the files are as you expect"
      : `the branch is ${git.branch ? inline(git.branch, lengths.branch) : "detached"} and \`git status\` shows ${git.uncommitted} changed and ${git.untracked} untracked files`
  return `Verify on resume: ${there}, and the next step still makes sense.`
}

/** One line in which nothing is taken for markup, a marker or a cell. */
function inline(text: string, longest: number): string {
  const clean = redactSecrets(beginningOf(text))
    .text.replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
  const characters = [...clean]
  const short = characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : clean
  return short
    .replace(/[\\`*_[\]|]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
}

/** All that can be shown of a text, however long that is, without a half of a word: of a secret it would not be known. */
function beginningOf(text: string): string {
  if (text.length <= mostLooked) return text
  const near = text.slice(0, mostLooked)
  return near.replace(/\s\S*$/, "")
}
