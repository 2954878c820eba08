/**
 * Long files hide two ideas. Code warns from 300 lines and fails over 500, tests fail over 800.
 * A table or a schema may say on its first line why it is longer: `file-size: the reason`.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { listFiles } from "./list-files.mjs"
import { root } from "./workspace.mjs"

const limits = { warn: 300, code: 500, test: 800 }

export function checkFileSize(files = readCode()) {
  const problems = []
  const warnings = []
  for (const { path, text } of files) {
    const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0)
    const isTest = /\.test\.tsx?$/.test(path)
    const limit = isTest ? limits.test : limits.code
    const reason = /file-size:\s*([^*]*)/.exec(text.slice(0, text.indexOf("\n")))?.[1]?.trim()
    if (reason !== undefined && reason.length < 10) problems.push(`${path}: "file-size:" on line 1 needs a reason.`)
    else if (lines > limit && reason === undefined) {
      problems.push(`${path}: ${lines} lines, at most ${limit}. Which two ideas are in it?`)
    } else if (!isTest && lines >= limits.warn && reason === undefined) {
      warnings.push(`${path}: ${lines} lines; from ${limits.warn} on ask whether two ideas hide in it.`)
    }
  }
  return { problems, warnings }
}

function readCode() {
  return listFiles()
    .filter((path) => /\.(ts|tsx|mts|mjs|cjs|js|css|sql|sh)$/.test(path) && !path.includes("fixtures/"))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
}
