/** An install must give the same everywhere: exact versions in package.json, no address of a registry in a lockfile. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { listFiles } from "./list-files.mjs"
import { root } from "./workspace.mjs"

const exact = /^(npm:(@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/
const groups = ["dependencies", "devDependencies", "optionalDependencies"]

export function checkPins(files = readFiles()) {
  const problems = []
  for (const { path, text } of files) {
    if (path.endsWith("package.json")) problems.push(...looseVersions(path, JSON.parse(text)))
    else problems.push(...addresses(path, text))
  }
  if (!files.some(({ path }) => path === "pnpm-lock.yaml"))
    problems.push("pnpm-lock.yaml is missing: run pnpm install.")
  return { problems }
}

function looseVersions(path, manifest) {
  return groups.flatMap((group) =>
    Object.entries(manifest[group] ?? {})
      .filter(([, version]) => version !== "workspace:*" && !exact.test(version))
      .map(([name, version]) => `${path}: ${name} is "${version}"; pin one exact version.`),
  )
}

function addresses(path, text) {
  return text
    .split("\n")
    .map((line, index) => ({ line, at: index + 1 }))
    .filter(
      ({ line }) =>
        /(tarball|resolved|registry)\W.*:\/\//.test(line) || (path.endsWith(".yaml") && line.includes("://")),
    )
    .map(({ line, at }) => `${path}:${at}: a lockfile names no address: ${line.trim().slice(0, 80)}`)
}

function readFiles() {
  return listFiles()
    .filter(
      (path) => /(^|\/)(package\.json|pnpm-lock\.yaml|package-lock\.json)$/.test(path) && !path.includes("fixtures/"),
    )
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
}
