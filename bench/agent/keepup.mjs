/** keepup's agent, bundled from source; null as long as it can't be bundled. */
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { bundle } from "../harness/build.mjs"
import { cleanEnvironment } from "../harness/process.mjs"

let loaded

export async function loadKeepup() {
  loaded ??= bundle("agent/keepup-entry.ts", "esm").then((file) => file && import(pathToFileURL(file).href))
  return loaded
}

export const environment = cleanEnvironment()

/** A workspace as people have it: some hundred files, in git with a commit or without. */
export function makeWorkspace(folder, isInGit) {
  for (let number = 0; number < 300; number++) {
    const path = join(folder, `src/part-${number % 20}`)
    mkdirSync(path, { recursive: true })
    writeFileSync(join(path, `file-${number}.ts`), `export const value${number} = ${number}\n`.repeat(40))
  }
  if (!isInGit) return folder
  const git = (...args) => spawnSync("git", ["-C", folder, ...args], { env: environment })
  git("init", "-q")
  git("add", ".")
  git("-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-qm", "first")
  return folder
}

/**
 * A model that answers when it is told to, so that loops can be gone through step by step and in turn. A step is from
 * the answer to the next question: what the loop does in between is all that is timed.
 */
export function createGatedModel(answerOf) {
  let asked = 0
  let give
  let noticed
  let question = new Promise((resolve) => {
    noticed = resolve
  })
  return {
    name: "gated",
    answer() {
      noticed()
      return new Promise((resolve) => {
        give = resolve
      })
    },
    /** Resolves when the model has been asked. */
    asked: () => question,
    /** Answers, and resolves when the next question comes. */
    async step() {
      question = new Promise((resolve) => {
        noticed = resolve
      })
      give(answerOf(asked++))
      await question
    },
    /** The last word: the run ends. */
    end: () => give({ content: "Done.", toolCalls: [] }),
  }
}
