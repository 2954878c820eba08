/** Homes, workspaces and command lines for the subject: nobody's settings, nobody's store. */
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { repository } from "../harness/build.mjs"
import { cleanEnvironment } from "../harness/process.mjs"
import { createRandom, sourceText } from "../snapshots/random.mjs"

export const node = JSON.stringify(process.execPath)
export const keepup = `${node} ${JSON.stringify(join(repository, "apps/cli/dist/keepup.cjs"))}`

export function environment(folder) {
  const home = join(folder, "home")
  mkdirSync(home, { recursive: true })
  const who = { NAME: "Bench", EMAIL: "bench@example.com" }
  const names = Object.entries(who).flatMap(([key, value]) => [
    [`GIT_AUTHOR_${key}`, value],
    [`GIT_COMMITTER_${key}`, value],
  ])
  return {
    ...Object.fromEntries(names),
    HOME: home,
    XDG_STATE_HOME: join(folder, "state"),
    XDG_CONFIG_HOME: join(home, ".config"),
    GIT_CONFIG_NOSYSTEM: "1",
  }
}

export function inShell(command, cwd, env) {
  const done = spawnSync("bash", ["-c", command], { cwd, env: cleanEnvironment(env), encoding: "utf8" })
  if (done.status !== 0) throw new Error(`${command} ended with ${done.status}: ${done.stderr}`)
  return done.stdout
}

/** Files of about 2 KB, forty to a folder. Returns the paths. */
export function fill(workspace, count) {
  const random = createRandom(11)
  return Array.from({ length: count }, (_, i) => {
    const folder = join(workspace, `src-${Math.floor(i / 40)}`)
    mkdirSync(folder, { recursive: true })
    const path = join(folder, `file-${i}.ts`)
    writeFileSync(path, sourceText(random, 500 + random.below(3000)))
    return path
  })
}
