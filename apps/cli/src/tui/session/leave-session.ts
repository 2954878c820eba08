/** The way out: a checkpoint of what changed, the session paused, and the words how to come back. */
import { type Runtime, shortId, toKeepupError } from "@ku0/agent-runtime"
import { oneLine } from "../../output/text.js"
import type { ChatScope } from "./chat-scope.js"
import { forgetChat } from "./open-session.js"

/** Never rejects: whatever goes wrong, the user hears what is kept and how to come back. Closes the runtime. */
export async function leaveSession(scope: ChatScope, opened: Promise<Runtime> | undefined): Promise<string> {
  const lines: string[] = []
  try {
    const runtime = await opened
    if (runtime === undefined) return ""
    try {
      lines.push(...(await keep(scope, runtime)))
    } finally {
      await runtime.close()
    }
  } catch (thrown) {
    lines.push(`The last checkpoint could not be taken: ${toKeepupError(thrown).message}`)
  }
  return [...lines, ...comeBack(scope)].join("\n")
}

async function keep(scope: ChatScope, runtime: Runtime): Promise<string[]> {
  if (scope.session === undefined) return []
  const { store, manager } = runtime
  const { id } = scope.session
  await forgetChat(scope, runtime)
  const holder = await store.leases.find(`session:${id}`)
  if (holder !== undefined)
    return [`Another process works in this session (pid ${holder.holder.pid}): it is left to it.`]
  await manager.take({ sessionId: id, trigger: "exit", allowEmpty: false })
  if ((await store.sessions.get(id)).phase === "idle") {
    await store.log.append(id, [{ type: "session:paused", data: { reason: "exit" } }])
  }
  const newest = (await store.checkpoints.list(id, { limit: 1 }))[0]
  return newest === undefined ? [] : [`Everything is kept in checkpoint #${newest.number}.`]
}

function comeBack({ session }: ChatScope): string[] {
  if (session === undefined) return []
  return [`Session "${oneLine(session.name)}". Go on with: keepup chat -S ${shortId(session.id)}`]
}
