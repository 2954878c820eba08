/** Starts git for the peers' command sequences: nobody's configuration, hooks, templates or identity but our own. */
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, renameSync } from "node:fs"
import { join } from "node:path"

const environment = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
  GIT_AUTHOR_NAME: "bench",
  GIT_AUTHOR_EMAIL: "bench@localhost",
  GIT_COMMITTER_NAME: "bench",
  GIT_COMMITTER_EMAIL: "bench@localhost",
}

/** Runs git and gives its standard output; throws on failure unless `allow` names the exit code. */
export function git(cwd, args, { env, input, allow = [], encoding = "utf8" } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn("git", args, {
      cwd,
      env: { ...environment, ...env },
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    })
    const chunks = []
    const errors = []
    child.stdout.on("data", (chunk) => chunks.push(chunk))
    child.stderr.on("data", (chunk) => errors.push(chunk))
    child.on("error", reject)
    child.on("close", (code) => {
      const output = Buffer.concat(chunks)
      if (code === 0 || allow.includes(code)) resolve(encoding === "utf8" ? output.toString() : output)
      else reject(new Error(`git ${args.join(" ").slice(0, 200)} ended with ${code}: ${Buffer.concat(errors)}`))
    })
    if (input !== undefined) child.stdin.end(input)
  })
}

export const split = (text) => text.split("\0").filter(Boolean)

/**
 * Makes the folder a git repository with everything committed and packed, like a fresh clone. Single objects lie beside it
 * and stay: where thousands of files were just deleted, some disks are slow for minutes.
 */
export async function makeRepository(folder) {
  const objects = mkdtempSync(`${folder}-objects-`)
  const env = { GIT_OBJECT_DIRECTORY: objects }
  await git(folder, ["init", "-q", "-b", "main"])
  await git(folder, ["config", "gc.auto", "0"])
  await git(folder, ["add", "-A"], { env })
  await git(folder, ["commit", "-q", "-m", "a project"], { env })
  await git(folder, ["repack", "-aq"], { env })
  for (const name of readdirSync(join(objects, "pack")))
    renameSync(join(objects, "pack", name), join(folder, ".git/objects/pack", name))
  await git(folder, ["fsck", "--connectivity-only"])
  await git(folder, ["status"])
}

/** Waits until git's own background housekeeping in these repositories has ended, so that it disturbs nobody else. */
export async function settle(gitFolders, patienceMs = 300_000) {
  const end = Date.now() + patienceMs
  for (const folder of gitFolders) {
    while (existsSync(join(folder, "gc.pid")) && Date.now() < end) await new Promise((next) => setTimeout(next, 50))
  }
}
