/**
 * Who takes part. Each `make(workspace, folder)` gives `first`, `snapshot(changedPaths)`, perhaps `restore(id)`, `settle`
 * (wait for its own background work), `compact` (pack what it has), `treeOf(id)` and `close`.
 */
import { hire } from "../harness/member.mjs"
import { keepupBundle } from "./keepup.mjs"

/** Each works in a process of its own. */
const at = (file) => new URL(file, import.meta.url).href
const shadow = (name) => (workspace, folder) => hire(at("./peers-shadow.mjs"), name, workspace, folder)
const user = (name) => (workspace, folder) => hire(at("./peers-user.mjs"), name, workspace, folder)
const keepup = (name) => async (workspace, folder) => {
  const bundle = await keepupBundle()
  return bundle && hire(at("./keepup.mjs"), name, workspace, folder, bundle)
}

export const strategies = [
  { name: "roo", kind: "peer", make: shadow("roo"), slowFirst: true },
  { name: "cline-old", kind: "peer", make: shadow("clineOld"), slowFirst: true, upTo: 5000 },
  { name: "gemini", kind: "peer", make: shadow("gemini"), slowFirst: true },
  { name: "opencode", kind: "peer", make: shadow("opencode"), needsGit: true },
  { name: "stash in user repo (cline-new)", kind: "peer", make: user("stash"), needsGit: true, inUserRepository: true },
  { name: "ghost commit (codex)", kind: "peer", make: user("ghost"), needsGit: true, inUserRepository: true },
  {
    name: "git stash create (tracked only)",
    kind: "partial",
    make: user("stashCreate"),
    needsGit: true,
    inUserRepository: true,
  },
  { name: "copy edited files (told which)", kind: "partial", make: user("copies") },
  { name: "keepup exact", kind: "keepup", make: keepup("keepupExact") },
  { name: "keepup resident (hints)", kind: "keepup", make: keepup("keepupResident") },
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
