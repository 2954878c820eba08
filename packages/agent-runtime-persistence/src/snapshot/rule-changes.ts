/** Notices that the rules about what is captured changed, and what of the last snapshot they now leave out. */
import { type BytePath, nameOf } from "./byte-path.js"
import { type FileStat, isSettled } from "./file-stat.js"
import type { ScanContext } from "./find-changes.js"
import { listTree } from "./trees.js"

/** A .gitignore file that changed, came or went decides anew about files we know. */
export function touchesRules({ state, files }: ScanContext, paths: ReadonlySet<BytePath>): boolean {
  for (const path of paths) {
    if (nameOf(path) !== ".gitignore") continue
    const known = state.overlay.get(path)
    const found = files.look(path)
    if (known === "gone" && found.kind === "absent") continue
    const isKnown = typeof known === "object" && found.kind === "file" && found.stat === known.stat
    if (isKnown && isSettled(known.stat, known.seenAt)) continue
    return true
  }
  return false
}

/** Ignore files that no snapshot holds are in no index: whether one changed, came or went since they were noted. */
export function noteHiddenRules(
  { state, files, now }: ScanContext,
  found: readonly BytePath[],
  isAnew: boolean,
): boolean {
  const before = state.hiddenRules
  const paths = new Set([...(isAnew ? [] : before.keys()), ...found])
  state.hiddenRules = new Map()
  for (const path of paths) {
    const seenAt = now()
    const look = files.look(path)
    if (look.kind === "file") state.hiddenRules.set(path, isSettled(look.stat, seenAt) ? look.stat : "")
  }
  const isSame = ([path, stat]: [BytePath, FileStat]) => stat !== "" && state.hiddenRules.get(path) === stat
  return state.hiddenRules.size !== before.size || ![...before].every(isSame)
}

/** After a change of rules: what the last snapshot holds and the walk did not find, though it is there. */
export async function findNewlyIgnored({ state, reader, files }: ScanContext, found: readonly BytePath[]) {
  const captured = new Set(found)
  const ignored = new Set<BytePath>()
  for (const path of (await listTree(reader, state.lastTree)).keys()) {
    if (captured.has(path) || state.forced.has(path)) continue
    if (files.look(path).kind !== "absent") ignored.add(path)
  }
  return ignored
}

/** Files that were gone and are there again, but under rules that now leave them out. */
export function dropIgnoredAgain({ state, files }: ScanContext, found: readonly BytePath[]): BytePath[] {
  const captured = new Set(found)
  const dropped: BytePath[] = []
  for (const [path, known] of state.overlay) {
    if (known !== "gone" || captured.has(path) || state.forced.has(path)) continue
    if (files.look(path).kind === "absent") continue
    state.overlay.set(path, "ignored")
    dropped.push(path)
  }
  return dropped
}
