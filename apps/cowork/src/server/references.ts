/** What an address names: sessions, checkpoints, and paths that stay inside a workspace. */
import { type Checkpoint, type CheckpointId, KeepupError, type Runtime, type Session } from "@ku0/agent-runtime"

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export async function getSession({ store }: Runtime, reference: string): Promise<Session> {
  return await store.sessions.resolve(reference)
}

/** A checkpoint of the session, by any reference; one of another session only where `anywhere` is said, by its id. */
export async function getCheckpoint(
  { store }: Runtime,
  session: Session,
  reference: string,
  anywhere = false,
): Promise<Checkpoint> {
  if (uuid.test(reference)) {
    const found = await store.checkpoints.find(reference.toLowerCase() as CheckpointId)
    if (found !== undefined && (anywhere || found.sessionId === session.id)) return found
    throw new KeepupError("NOT_FOUND", `There is no checkpoint ${reference}${anywhere ? "" : " in this session"}.`)
  }
  return await store.checkpoints.resolve(session.id, /^\d+$/.test(reference) ? `#${reference}` : reference)
}

/** Refuses what could mean a place outside: absolute paths, `..`, empty parts. Files are looked up by name, never opened. */
export function requireInside(path: string): string {
  const parts = path.split("/")
  if (!path.includes("\0") && !parts.some((part) => part === "" || part === "." || part === "..")) return path
  throw new KeepupError("INVALID_INPUT", "The path must stay inside the workspace.", {
    hint: "Give a path relative to the workspace, without `..`.",
  })
}
