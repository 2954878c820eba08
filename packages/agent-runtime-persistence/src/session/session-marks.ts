/**
 * What keepup itself notes in a session's metadata. It is true of this session in this store only: no branch, no export
 * and no import takes it along, or a copy would be taken for what it is a copy of.
 */

/** On a branch until its files are there: the process that is at it. */
export const rewindMark = "rewinding"
/** On a session that is being imported: the process that is at it. */
export const importMark = "importing"
/** On a session that came from elsewhere. */
export const importedMark = "imported"
/** On what is listed although its row can't be read: why. */
export const damagedMark = "keepup:damaged"
/** Someone asked the process that runs it to pause: when. */
export const pauseMark = "pauseRequestedAt"
/** On a session while a chat has it: the process, to tell a chat that left from one that died. */
export const chatMark = "chatProcess"
/** On what an agent spawned: by which session, and in which call. */
const spawnMarks = ["spawnedBy", "spawnCallId"]

type Metadata = Readonly<Record<string, unknown>>

const marks = new Set([rewindMark, importMark, importedMark, damagedMark, pauseMark, chatMark, ...spawnMarks])

/** What a copy takes along: what users and agents noted. */
export function withoutMarks(metadata: Metadata): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !marks.has(key)))
}
