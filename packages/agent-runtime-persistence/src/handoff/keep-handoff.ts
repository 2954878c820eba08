/**
 * Keeps the handoff file up to date after each checkpoint. Whatever is wrong with that file is told once, on the screen
 * and in the session's log; no checkpoint fails because of it.
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { type Checkpoint, type Session, toKeepupError } from "@ku0/agent-runtime-core"
import type { Store } from "../store/open-store.js"
import { fillHandoffPath } from "./handoff-path.js"

export interface HandoffKeeperOptions {
  readonly store: Store
  /** `handoff.path` of the configuration. */
  readonly template: string
  /** Told why a file was left alone. Must not throw. */
  readonly onWarning?: (message: string) => void
}

export interface HandoffKeeper {
  /** Never throws. */
  keep(session: Session, checkpoint: Checkpoint): Promise<void>
  /** Whether this file of the workspace is still just as `keep` left it. */
  isAsKept(workspacePath: string, path: string): boolean
}

export function createHandoffKeeper({ store, template, onWarning }: HandoffKeeperOptions): HandoffKeeper {
  /** Path → the hash of what was written there. */
  const kept = new Map<string, string>()
  const told = new Set<string>()

  async function write(session: Session, checkpoint: Checkpoint): Promise<void> {
    const { workspacePath } = session
    const path = fillHandoffPath({ template, workspacePath, session, branch: checkpoint.git?.branch ?? null })
    // loaded here: most checkpoints write no handoff
    const { readHandoff } = await import("./render-handoff.js")
    const { writeHandoffSection } = await import("./write-handoff-section.js")
    const handoff = await readHandoff(store, session.id)
    const result = await writeHandoffSection({ path, workspacePath, handoff })
    if (result.warning !== undefined) await tell(session, result.warning)
    else kept.set(path, hashOf(path))
  }

  async function tell(session: Session, why: string): Promise<void> {
    const message = `The handoff was not written: ${why}`
    if (told.has(message)) return
    told.add(message)
    onWarning?.(message)
    await store.sessions.addLog(session.id, "warn", message).catch(() => undefined) // the screen has it
  }

  return {
    async keep(session, checkpoint) {
      try {
        await write(session, checkpoint)
      } catch (error) {
        await tell(session, toKeepupError(error).message)
      }
    },
    isAsKept(workspacePath, path) {
      const absolute = resolve(workspacePath, path)
      const hash = kept.get(absolute)
      return hash !== undefined && hash === hashOf(absolute)
    },
  }
}

/** Empty if it can't be read. */
function hashOf(path: string): string {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex")
  } catch {
    return "" // whoever took it away changed it
  }
}
