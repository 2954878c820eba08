/** Peers with a shadow repository beside the workspace: Roo, old Cline, Gemini, OpenCode, as their git command sequences. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { git, settle, split } from "./git.mjs"

/** Roo and old Cline: one repository per task with `core.worktree`, `add .` and `commit` for each checkpoint. */
function perTask(commitArguments, restoreSteps) {
  return (workspace, folder) => {
    const at = (args, options) => git(folder, args, options)
    const commit = async (message) => {
      await at(["add", ".", "--ignore-errors"])
      await at(["commit", "-m", message, ...commitArguments], { allow: [1] })
      return (await at(["rev-parse", "HEAD"])).trim()
    }
    return {
      async first() {
        await at(["init", "--template="])
        await at(["config", "core.worktree", workspace])
        await at(["config", "commit.gpgSign", "false"])
        await at(["config", "user.name", "bench"])
        await at(["config", "user.email", "bench@localhost"])
        mkdirSync(join(folder, ".git", "info"), { recursive: true })
        writeFileSync(join(folder, ".git", "info", "exclude"), ".git/\nnode_modules/\n")
        return commit("initial commit")
      },
      snapshot: () => commit("checkpoint"),
      async restore(id) {
        for (const step of restoreSteps) await at([...step, ...(step[0] === "reset" ? [id] : [])])
      },
      treeOf: (id) => at(["rev-parse", `${id}^{tree}`]),
      compact: () => at(["gc", "-q"]),
      settle: () => settle([join(folder, ".git")]),
    }
  }
}

export const roo = perTask(
  ["--allow-empty"],
  [
    ["clean", "-f", "-d", "-f"],
    ["reset", "--hard"],
  ],
)
export const clineOld = perTask(["--allow-empty", "--no-verify"], [["reset", "--hard"]])

/** Gemini CLI: one repository per project, `add .`, `status`, `commit`; restore takes the files and cleans the rest. */
export function gemini(workspace, folder) {
  const env = { GIT_DIR: join(folder, ".git"), GIT_WORK_TREE: workspace }
  const at = (args, options) => git(workspace, args, { env, ...options })
  const commit = async () => {
    await at(["add", "."])
    const status = await at(["status", "--porcelain", "-b", "-u", "--null"])
    if (split(status).length > 1) await at(["commit", "-m", "checkpoint", "--no-verify"])
    return (await at(["rev-parse", "HEAD"])).trim()
  }
  return {
    async first() {
      await git(folder, ["init", "--initial-branch", "main"])
      await git(folder, ["commit", "-m", "Initial commit", "--allow-empty"])
      const ignore = join(workspace, ".gitignore")
      writeFileSync(join(folder, ".gitignore"), existsSync(ignore) ? readFileSync(ignore) : "")
      return commit()
    },
    snapshot: commit,
    async restore(id) {
      await at(["restore", "--source", id, "."])
      await at(["clean", "-f", "-d"])
    },
    treeOf: (id) => at(["rev-parse", `${id}^{tree}`]),
    compact: () => at(["gc", "-q"]),
    settle: () => settle([join(folder, ".git")]),
  }
}

const plain = [
  "-c",
  "core.autocrlf=false",
  "-c",
  "core.longpaths=true",
  "-c",
  "core.symlinks=true",
  "-c",
  "core.quotepath=false",
]
const largest = 2 * 1024 * 1024

/** OpenCode: index and objects borrowed from the user's repository, two listings at once, `add` of what they name, `write-tree`. */
export function opencode(workspace, folder) {
  const at = (args, options) =>
    git(workspace, [...plain, "--git-dir", folder, "--work-tree", workspace, ...args], options)
  const exclude = async (more = []) => {
    const file = (await git(workspace, ["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"])).trim()
    const own = existsSync(file) ? readFileSync(file, "utf8").trimEnd() : ""
    writeFileSync(join(folder, "info", "exclude"), [own, ...more.map((path) => `/${path}`), ""].join("\n"))
  }
  const add = async () => {
    await exclude()
    const [changed, untracked] = await Promise.all([
      at(["diff-files", "--name-only", "-z", "--", "."]),
      at(["ls-files", "--others", "--exclude-standard", "-z", "--", "."]),
    ])
    const tracked = split(changed)
    const found = split(untracked)
    const large = found.filter((path) => statSync(join(workspace, path), { throwIfNoEntry: false })?.size > largest)
    if (large.length > 0) await exclude(large)
    const skip = new Set(large)
    const all = [...new Set([...tracked, ...found])].filter((path) => !skip.has(path))
    if (all.length === 0) return
    const input = `${all.join("\0")}\0`
    await at(["add", "--all", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"], {
      input,
      env: { GIT_LITERAL_PATHSPECS: "1" },
    })
  }
  const track = async () => {
    await add()
    return (await at(["write-tree"])).trim()
  }
  return {
    async first() {
      mkdirSync(folder, { recursive: true })
      await git(workspace, ["init"], { env: { GIT_DIR: folder, GIT_WORK_TREE: workspace } })
      for (const key of ["autocrlf=false", "longpaths=true", "symlinks=true", "fsmonitor=false"]) {
        const [name, value] = key.split("=")
        await git(workspace, ["--git-dir", folder, "config", `core.${name}`, value])
      }
      mkdirSync(join(folder, "info"), { recursive: true })
      const source = (
        await git(workspace, ["rev-parse", "--path-format=absolute", "--git-common-dir"], { allow: [128] })
      ).trim()
      if (source !== "") {
        writeFileSync(join(folder, "objects", "info", "alternates"), `${join(source, "objects")}\n`)
        copyFileSync(
          (await git(workspace, ["rev-parse", "--path-format=absolute", "--git-path", "index"])).trim(),
          join(folder, "index"),
        )
      }
      return track()
    },
    snapshot: track,
    treeOf: async (id) => id,
    compact: () => at(["gc", "-q", "--prune=7.days"]),
    /** Its revert: what differs now, which of it the tree has, check those out, delete the others. */
    async restore(id) {
      await add()
      const files = split(await at(["diff", "--cached", "--no-ext-diff", "--name-only", "-z", id, "--", "."]))
      for (let i = 0; i < files.length; i += 100) {
        const part = files.slice(i, i + 100)
        const there = new Set(split(await at(["ls-tree", "--name-only", "-z", id, "--", ...part])))
        const wanted = part.filter((path) => there.has(path))
        if (wanted.length > 0) await at(["checkout", id, "--", ...wanted])
        for (const path of part) if (!there.has(path)) unlinkSync(join(workspace, path))
      }
    },
  }
}
