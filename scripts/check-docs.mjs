/**
 * What the documents say about the tree is true: links lead somewhere, every proof that a scenario names exists
 * under that title, and no path of somebody's machine got in.
 */
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { checkCliDocs } from "./generate-cli-docs.mjs"
import { listFiles } from "./list-files.mjs"
import { root } from "./workspace.mjs"

/** Everything `pnpm check` asks of the documents: also that docs/cli.md says what the commands say. */
export async function checkAllDocs() {
  return { problems: [...checkDocs().problems, ...(await checkCliDocs())] }
}

export function checkDocs(files = readDocs()) {
  const problems = files.flatMap(({ path, text }) => [
    ...deadLinks(path, text),
    ...machinePaths(path, text),
    ...(/^docs\/scenarios[^/]*\.md$/.test(path) ? missingProofs(path, text) : []),
  ])
  return { problems }
}

function deadLinks(path, text) {
  const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1])
  return links
    .filter((link) => !/^(https?:|mailto:|#)/.test(link))
    .filter((link) => !existsSync(join(root, dirname(path), link.replace(/#.*$/, ""))))
    .map((link) => `${path}: the link to ${link} leads nowhere.`)
}

function machinePaths(path, text) {
  return text
    .split("\n")
    .map((line, index) => ({ line, at: index + 1 }))
    .filter(({ line }) => /(^|[\s("'`=])\/(work|root|home\/[a-z]+|Users\/[a-z]+)\//.test(line))
    .map(({ line, at }) => `${path}:${at}: a path of one machine: ${line.trim().slice(0, 80)}`)
}

/** A proof is written as `path/of/a.test.ts` "the title of the test"; several in one row are fine. */
function missingProofs(path, text) {
  const problems = []
  const rows = text.split("\n").filter((line) => line.startsWith("|"))
  for (const [, file, title] of rows.flatMap((row) => [...row.matchAll(/`([\w./-]+\.tsx?)`(?:\s+"([^"]+)")?/g)])) {
    const name = normalize(file)
    if (!existsSync(join(root, name))) problems.push(`${path}: there is no ${file}.`)
    else if (title && !plain(readFileSync(join(root, name), "utf8")).includes(plain(title))) {
      problems.push(`${path}: ${file} has no test "${title}".`)
    }
  }
  return problems
}

/** Escapes differ between a table cell and a string literal. */
function plain(text) {
  return text.replaceAll("\\", "")
}

function withoutCode(text) {
  return text.replace(/```[\s\S]*?```/g, "").replace(/`[^`\n]*`/g, "")
}

function readDocs() {
  return listFiles()
    .filter((path) => path.endsWith(".md") && !path.includes("fixtures/"))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
}
