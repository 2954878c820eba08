/**
 * Who takes part. Each `make(workspace, folder)` gives `first`, `snapshot(changedPaths)`, perhaps `restore(id)`, `settle`
 * (wait for its own background work), `compact` (pack what it has), `treeOf(id)` and `close`.
 */
import { keepupExact, keepupResident } from "./keepup.mjs"
import { clineOld, gemini, opencode, roo } from "./peers-shadow.mjs"
import { copies, ghost, stash, stashCreate } from "./peers-user.mjs"

export const strategies = [
  { name: "roo", kind: "peer", make: roo, slowFirst: true },
  { name: "cline-old", kind: "peer", make: clineOld, slowFirst: true, upTo: 5000 },
  { name: "gemini", kind: "peer", make: gemini, slowFirst: true },
  { name: "opencode", kind: "peer", make: opencode, needsGit: true },
  { name: "stash in user repo (cline-new)", kind: "peer", make: stash, needsGit: true, inUserRepository: true },
  { name: "ghost commit (codex)", kind: "peer", make: ghost, needsGit: true, inUserRepository: true },
  {
    name: "git stash create (tracked only)",
    kind: "partial",
    make: stashCreate,
    needsGit: true,
    inUserRepository: true,
  },
  { name: "copy edited files (told which)", kind: "partial", make: copies },
  { name: "keepup exact", kind: "keepup", make: keepupExact },
  { name: "keepup resident (hints)", kind: "keepup", make: keepupResident },
]

/** Those that can work on this tree. */
export function suitable({ git, files, names }) {
  return strategies.filter(
    (strategy) =>
      (git || !strategy.needsGit) &&
      files <= (strategy.upTo ?? Number.POSITIVE_INFINITY) &&
      (!names || names.includes(strategy.name)),
  )
}

export const kindOf = (name) => strategies.find((strategy) => strategy.name === name)?.kind ?? "floor"
export const isInUserRepository = (name) =>
  strategies.some((strategy) => strategy.name === name && strategy.inUserRepository)
