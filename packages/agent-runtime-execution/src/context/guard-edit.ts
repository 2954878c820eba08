/** Refuses an edit of files that changed since they were read: all of it, before anything is touched. */
import { KeepupError } from "@ku0/agent-runtime-core"
import type { FileContextHandle } from "./file-context-tracker.js"

/** Throws `CONFLICT` with every stale path. The content decides, at this moment; files never read pass. */
export function guardEdit(context: FileContextHandle | undefined, paths: readonly string[]): void {
  const stale = [...new Set(paths)].filter((path) => context?.isStale(path) === true)
  if (stale.length === 0) return
  throw staleError(stale.map((path) => context?.getEntry(path)?.path ?? path))
}

/** The refusal, with every path. */
export function staleError(names: readonly string[]): KeepupError {
  const list = names.map((name) => `\n- ${name}`).join("")
  return new KeepupError("CONFLICT", `Stale file context detected. Reload before editing:${list}`, {
    hint: "Read the files again, then edit them. Nothing was changed.",
    details: { paths: names },
  })
}
