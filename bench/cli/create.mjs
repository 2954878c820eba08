/** `keepup checkpoint create` with one changed file in 1,000 against `git add -A && git commit` on the same files. */
import { appendFileSync, cpSync, mkdirSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, relative } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { repository } from "../harness/build.mjs"
import { flush } from "../harness/disk.mjs"
import { table } from "../harness/report.mjs"
import { takeTurns } from "./measure.mjs"
import { environment, fill, inShell, keepup, node } from "./place.mjs"

const files = 1_000

export async function create(context) {
  const folder = context.scratch.folder("cli-create")
  const env = environment(folder)
  const plain = join(folder, "plain")
  mkdirSync(plain)
  const paths = fill(plain, files).map((path) => relative(plain, path))
  inShell("git init -q && git add -A && git commit -qm first", plain, env)
  const inGit = join(folder, "in-git")
  const without = join(folder, "without-git")
  cpSync(plain, inGit, { recursive: true, preserveTimestamps: true })
  cpSync(plain, without, { recursive: true, filter: (path) => !path.endsWith(".git") })
  const bare = join(folder, "bare")
  const bareStore = join(folder, "bare-store")
  cpSync(without, bare, { recursive: true })
  mkdirSync(bareStore)
  const driver = createRequire(join(repository, "apps/cli/package.json")).resolve("@photostructure/sqlite/package.json")
  const sqlite = join(
    dirname(driver),
    `prebuilds/${process.platform}-${process.arch}/@photostructure+sqlite.glibc.node`,
  )
  const bareWork = join(import.meta.dirname, "bare-work.cjs")
  // an index written in the second of its files is read with care for ever: let that second pass
  await wait(2_500)
  inShell("git status >/dev/null", inGit, env)
  inShell(`${keepup} checkpoint create --quiet`, inGit, env)
  inShell(`${keepup} checkpoint create --quiet`, without, env)
  const change = (workspace) => (round) => {
    appendFileSync(join(workspace, paths[(round + 7) % paths.length]), `// ${round}\n`)
    flush(workspace)
  }
  const rows = await takeTurns(
    {
      "node -e 0": { command: `${node} -e 0`, cwd: plain },
      "git add -A && git commit": {
        command: "git add -A && git commit -qm next",
        cwd: plain,
        before: change(plain),
      },
      "floor: the bare work in Node": {
        command: [node, ...[bareWork, bare, bareStore, sqlite].map((path) => JSON.stringify(path))].join(" "),
        cwd: bare,
        before: change(bare),
      },
      "keepup checkpoint create, in git": {
        command: `${keepup} checkpoint create`,
        cwd: inGit,
        before: change(inGit),
      },
      "keepup checkpoint create, without git": {
        command: `${keepup} checkpoint create`,
        cwd: without,
        before: change(without),
      },
    },
    { rounds: context.quick ? 10 : 40, env },
  )
  const body = Object.entries(rows).map(([name, { wall, cpu }]) => [
    name,
    ...[wall.median, wall.min, cpu.median, cpu.min],
    ...["wall", "cpu"].map((kind) => rows[name][kind].median / limit(rows, kind, "median")),
  ])
  context.print(
    `Command line: a checkpoint of one changed file in ${files}; the limit is 1.5 x git + one node`,
    table(["command", "med ms", "min ms", "cpu med", "cpu min", "of the limit", "of the limit (cpu)"], body),
  )
  return rows
}

/** What a checkpoint may take at most. */
export function limit(rows, kind, which) {
  return 1.5 * rows["git add -A && git commit"][kind][which] + rows["node -e 0"][kind][which]
}
