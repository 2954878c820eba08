/** Going back inside the chat: the plan, the restore or the rewind, and the chat that goes on from there. */
import {
  type Checkpoint,
  diffCheckpoints,
  patchBetween,
  planRestore,
  type RestorePlan,
  restoreCheckpoint,
  rewindToCheckpoint,
  toKeepupError,
  undoRestore,
} from "@ku0/agent-runtime"
import { renderStat } from "../../output/diff.js"
import { createStyles, plural } from "../../output/text.js"
import { renderPlan, renderRestored } from "../../restore-talk.js"
import type { DiffPreview } from "../state/overlay.js"
import type { ChatScope } from "./chat-scope.js"
import { openSession, showConversation } from "./open-session.js"
import { notice } from "./show-event.js"

/** Lines of a patch that are worth looking at beside a list. */
const previewLines = 400

/** Shows what a restore would do and asks. The plan that was agreed to, or nothing. */
export async function confirmRestore(
  scope: ChatScope,
  checkpoint: Checkpoint,
  isBranch: boolean,
): Promise<RestorePlan | undefined> {
  const runtime = await scope.openRuntime()
  const session = await runtime.store.sessions.get(checkpoint.sessionId)
  const plan = await planRestore(runtime, { checkpoint })
  const shown = isBranch ? { ...plan, messagesHidden: 0 } : plan
  const text = renderPlan(scope.context, checkpoint, session, shown)
  const isAgreed = await scope.questions.confirm(isBranch ? "Restore as a new session?" : "Restore?", text)
  return isAgreed ? plan : undefined
}

/** Makes the checkpoint the present of the session it belongs to; the chat goes on there. */
export async function restoreHere(scope: ChatScope, checkpoint: Checkpoint, agreed: RestorePlan): Promise<void> {
  const runtime = await scope.openRuntime()
  const done = await restoreCheckpoint(runtime, { checkpoint, agreed })
  await openSession(scope, await runtime.store.sessions.get(checkpoint.sessionId))
  scope.store.dispatch(notice("info", renderRestored(checkpoint, done.plan, done.safety, "/undo")))
  await showConversation(scope)
}

/** Goes on from the checkpoint in a new session. */
export async function rewindHere(scope: ChatScope, checkpoint: Checkpoint, agreed?: RestorePlan): Promise<void> {
  const runtime = await scope.openRuntime()
  const made = await rewindToCheckpoint(runtime, { checkpoint, ...(agreed && { agreed }) })
  await openSession(scope, made.session)
  await showConversation(scope)
  scope.store.dispatch(
    notice("info", `Rewound to checkpoint #${checkpoint.number}. Original session preserved.`, undoHint(made.plan)),
  )
}

/** Takes the workspace's last restore back. */
export async function undoHere(scope: ChatScope): Promise<void> {
  const runtime = await scope.openRuntime()
  const workspacePath = scope.session?.workspacePath ?? runtime.workspacePath
  const { plan, restore } = await undoRestore(runtime, { workspacePath })
  if (restore.sessionId === scope.session?.id)
    await openSession(scope, await runtime.store.sessions.get(restore.sessionId))
  const files = `${plural(plan.write.length, "file")} written, ${plural(plan.delete.length, "file")} deleted`
  scope.store.dispatch(notice("info", `The restore was taken back: ${files}. Everything is as it was before it.`))
}

/** What changed since a checkpoint, for the side of the timeline. */
export async function previewDiff(scope: ChatScope, checkpoint: Checkpoint, width: number): Promise<DiffPreview> {
  try {
    const runtime = await scope.openRuntime()
    const changes = await diffCheckpoints(runtime, checkpoint, "workspace")
    const stat = renderStat(changes, width, createStyles(false))
    if (changes.length === 0) return { status: "ready", stat, patch: "" }
    const lines = (await patchBetween(runtime, checkpoint, "workspace")).toString("utf8").split("\n")
    const more = lines.length > previewLines ? [`… ${lines.length - previewLines} more lines: /diff shows them`] : []
    return { status: "ready", stat, patch: [...lines.slice(0, previewLines), ...more].join("\n").trimEnd() }
  } catch (thrown) {
    return { status: "failed", stat: toKeepupError(thrown).message, patch: "" }
  }
}

function undoHint({ write, delete: removed }: { write: readonly string[]; delete: readonly string[] }) {
  const count = write.length + removed.length
  return count === 0 ? undefined : `${plural(count, "file")} changed. /undo gives them back.`
}
