/** Subject `snapshots`: keepup's engine, the peers' strategies and the floors on generated trees, or on a copy of a folder. */
import { execFileSync } from "node:child_process"
import { existsSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { waitForDisk } from "../harness/quiet.mjs"
import { progress, writeText } from "../harness/report.mjs"
import { first } from "./first.mjs"
import { makeRepository } from "./git.mjs"
import { growth } from "./growth.mjs"
import { incremental } from "./incremental.mjs"
import { dismiss } from "./members.mjs"
import { memory } from "./memory.mjs"
import { growthPlot, sizePlot } from "./plots.mjs"
import { restore } from "./restore.mjs"
import { generateTree, listFiles } from "./tree.mjs"
import { createWorkspace } from "./workspace.mjs"

const parts = { incremental, first, restore, growth, memory }

/** Which parts are measured on which tree. */
function plan(context) {
  if (context.folder) return [{ from: context.folder, parts: ["first", "incremental", "restore"] }]
  if (context.quick) {
    return [
      { files: 3000, git: true, parts: ["first", "incremental", "restore", "growth"] },
      { files: 10_000, git: true, parts: ["first", "incremental", "restore"] },
      { files: 10_000, git: false, parts: ["first", "memory"] },
    ]
  }
  return [
    { files: 3000, git: true, parts: ["first", "incremental", "restore"] },
    { files: 50_000, git: true, parts: ["first", "incremental", "restore"] },
    { files: 100_000, git: true, parts: ["first", "incremental", "memory"] },
    { files: 100_000, git: false, parts: ["first", "memory"] },
    { files: 3000, git: true, parts: ["growth"] },
  ]
}

export async function run(context) {
  const all = {}
  for (const step of plan(context)) {
    const wanted = step.parts.filter((part) => isWanted(context, part, step))
    if (wanted.length === 0) continue
    const tree = await prepare(context, step)
    for (const part of wanted) {
      await waitForDisk(context.scratch.root, tree.workspace.root)
      const value = await parts[part](context, tree)
      all[part] = { ...all[part], [tree.key]: value }
      context.keep("snapshots", part, all[part])
    }
    await dismiss(tree)
    rmSync(tree.workspace.root, { recursive: true, force: true })
  }
  const file = (name) => join(context.results, `${context.stamp}-${name}.svg`)
  if (all.incremental && Object.keys(all.incremental).length > 1)
    writeText(file("snapshot-size"), sizePlot(all.incremental))
  if (all.growth) writeText(file("snapshot-growth"), growthPlot(Object.values(all.growth)[0]))
}

/** `--only restore` names a part, `--only restore@50000` a part on the tree of that size. */
function isWanted({ only }, part, { files }) {
  return !only || only.includes(part) || only.includes(`${part}@${files}`)
}

async function prepare(context, step) {
  const root = context.scratch.folder("workspace")
  if (step.from) {
    progress(`copying ${step.from}`)
    execFileSync("cp", ["-a", "--reflink=auto", `${step.from}/.`, root])
    const files = listFiles(root)
    const git = existsSync(join(root, ".git"))
    return {
      key: "folder",
      label: `${basename(step.from)} (${files.length} files)`,
      files: files.length,
      git,
      workspace: createWorkspace(root, files),
    }
  }
  progress(`generating ${step.files} files${step.git ? " in a git repository" : ""}`)
  const files = generateTree(root, step.files)
  if (step.git) await makeRepository(root)
  execFileSync("sync")
  const name = step.files.toLocaleString("en")
  return {
    key: `${step.files}${step.git ? "-git" : ""}`,
    label: `${name} files ${step.git ? "in git" : "without git"}`,
    files: step.files,
    git: step.git,
    workspace: createWorkspace(root, files),
  }
}
