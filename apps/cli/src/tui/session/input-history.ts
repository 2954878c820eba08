/** What was said before in this workspace, for the arrow keys of the input. */
import type { Message, Runtime } from "@ku0/agent-runtime"

const mostSessions = 5
const mostMessages = 200

/** Newest first, each text once. */
export async function readInputHistory({ store, workspacePath }: Runtime): Promise<string[]> {
  const sessions = await store.sessions.list({ workspacePath, limit: mostSessions })
  const texts: string[] = []
  for (const { id } of sessions) {
    const messages = await store.log.lastMessages(await store.log.head(id), mostMessages)
    texts.push(
      ...messages
        .map(({ message }) => message)
        .flatMap(textOf)
        .reverse(),
    )
  }
  return [...new Set(texts)].slice(0, mostMessages)
}

function textOf(message: Message): string[] {
  return message.role === "user" ? [message.content] : []
}
