/**
 * Peers that write into the user's own repository (stash-like, Codex ghost commits) and those that copy edited files. The
 * former get a copy of the repository each, on the same workspace: otherwise what they do to the user's index would change
 * what the others have to look at.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { git, split } from "./git.mjs"

function inOwnCopy(workspace, folder) {
  const env = { GIT_DIR: join(folder, "user.git"), GIT_WORK_TREE: workspace }
  cpSync(join(workspace, ".git"), env.GIT_DIR, { recursive: true, preserveTimestamps: true })
  return (args, options) => git(workspace, args, { ...options, env: { ...env, ...options?.env } })
}

/** New Cline: `git stash create`, a third parent for untracked files, a private ref. */
export function stash(workspace, folder) {
  const at = inOwnCopy(workspace, folder)
  let number = 0
  const snapshot = async () => {
    const base = (await at(["rev-parse", "HEAD"])).trim()
    const made = (await at(["stash", "create"], { allow: [1] })).trim()
    const files = split(await at(["ls-files", "--others", "--exclude-standard", "-z"]))
    let id = made || base
    if (files.length > 0) {
      const env = { GIT_INDEX_FILE: join(folder, "untracked.index") }
      rmSync(env.GIT_INDEX_FILE, { force: true })
      await at(["update-index", "--add", "-z", "--stdin"], { env, input: `${files.join("\0")}\0` })
      const tree = (await at(["write-tree"], { env })).trim()
      const untracked = (await at(["commit-tree", tree, "-m", "untracked files"])).trim()
      const [own, index] = made
        ? (await at(["rev-parse", `${made}^{tree}`, `${made}^2`])).trim().split("\n")
        : [(await at(["rev-parse", `${base}^{tree}`])).trim(), base]
      id = (await at(["commit-tree", own, "-p", base, "-p", index, "-p", untracked, "-m", "checkpoint"])).trim()
    }
    await at(["update-ref", `refs/bench/checkpoints/${++number}`, id])
    return id
  }
  return {
    first: snapshot,
    snapshot,
    async restore(id) {
      const base = (await at(["rev-parse", "HEAD"])).trim()
      // Its way back if something fails: the present goes on the user's stash first.
      const kept = !(await at(["stash", "push", "-u", "-m", "before restore"])).startsWith("No local changes")
      await at(["reset", "--hard", base])
      await at(["clean", "-f", "-d"])
      if (id !== base) await at(["stash", "apply", id])
      if (kept) await at(["stash", "drop"])
    },
  }
}

/** `git stash create` alone: what is not tracked is not there. */
export function stashCreate(workspace, folder) {
  const at = inOwnCopy(workspace, folder)
  const snapshot = async () => (await at(["stash", "create"], { allow: [1] })).trim()
  return { first: snapshot, snapshot }
}

/** Codex ghost commits: status, a temporary index from HEAD, `add` of what changed, `write-tree`, `commit-tree`. */
export function ghost(workspace, folder) {
  const at = inOwnCopy(workspace, folder)
  const list = async () => {
    const fields = split(await at(["status", "--porcelain=2", "-z", "--untracked-files=all"]))
    const untracked = fields.filter((field) => field.startsWith("? ")).map((field) => field.slice(2))
    const changed = fields.filter((field) => field.startsWith("1 ")).map((field) => field.split(" ").slice(8).join(" "))
    return { untracked, changed }
  }
  const known = new Map()
  const snapshot = async () => {
    await at(["rev-parse", "--show-toplevel"])
    const head = (await at(["rev-parse", "HEAD"])).trim()
    const { untracked, changed } = await list()
    const env = { GIT_INDEX_FILE: join(folder, "ghost.index") }
    rmSync(env.GIT_INDEX_FILE, { force: true })
    await at(["read-tree", head], { env })
    const paths = [...changed, ...untracked]
    if (paths.length > 0) {
      const input = `${paths.join("\0")}\0`
      await at(["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"], {
        env: { ...env, GIT_LITERAL_PATHSPECS: "1" },
        input,
      })
    }
    const tree = (await at(["write-tree"], { env })).trim()
    const id = (await at(["commit-tree", tree, "-p", head, "-m", "snapshot"])).trim()
    known.set(id, new Set(untracked))
    return id
  }
  return {
    first: snapshot,
    snapshot,
    async restore(id) {
      const { untracked } = await list()
      await at(["restore", "--source", id, "--worktree", "--", "."])
      for (const path of untracked) if (!known.get(id).has(path)) rmSync(join(workspace, path), { force: true })
    },
  }
}

/** Copies of the files the agent's own tools edited; it must be told which, and is blind to everything else. */
export function copies(workspace, folder) {
  let number = 0
  return {
    first: async () => "0",
    async snapshot(changed) {
      const target = join(folder, String(++number))
      mkdirSync(target, { recursive: true })
      for (const [i, path] of changed.entries()) {
        if (existsSync(join(workspace, path))) copyFileSync(join(workspace, path), join(target, String(i)))
      }
      writeFileSync(join(target, "paths"), changed.join("\0"))
      return String(number)
    },
  }
}
