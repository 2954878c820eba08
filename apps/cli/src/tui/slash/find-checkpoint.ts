/** What people write for a checkpoint in the chat; a number that is none gets the numbers there are. */
import { type Checkpoint, isKeepupError, KeepupError, type Session } from "@ku0/agent-runtime"
import { getCheckpoint } from "../../references.js"
import { openStore, type SlashChat } from "./slash-command.js"

export async function findCheckpoint(chat: SlashChat, session: Session, reference: string): Promise<Checkpoint> {
  try {
    return await getCheckpoint(chat.scope.context, session, reference)
  } catch (cause) {
    const isMissing = isKeepupError(cause) && cause.code === "NOT_FOUND"
    const number = /^#?(-?\d+)$/.exec(reference.trim())?.[1]
    if (!isMissing && number === undefined) throw cause
    const all = await (await openStore(chat)).checkpoints.list(session.id, { limit: 1_000 })
    const valid = describeNumbers(all.map((one) => one.number))
    const what = number === undefined ? JSON.stringify(reference.trim()) : `#${number}`
    const message =
      valid === ""
        ? `There is no checkpoint ${what}: there are none yet.`
        : `There is no checkpoint ${what}. Valid: ${valid}.`
    throw new KeepupError("NOT_FOUND", message, { cause, ...(valid === "" && { hint: "/checkpoint makes one." }) })
  }
}

/** `#1 to #4`, `#1, #3 to #7`. */
export function describeNumbers(numbers: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const number of [...new Set(numbers)].sort((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === number - 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges.map(([from, to]) => (from === to ? `#${from}` : `#${from} to #${to}`)).join(", ")
}
