/** Everything a change must hold before it is tested: `pnpm check`. Runs all checks, then says which failed and why. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { checkAllDocs } from "./check-docs.mjs"
import { checkFileSize } from "./check-file-size.mjs"
import { checkPins } from "./check-pins.mjs"
import { listMembers, root } from "./workspace.mjs"

const tsc = "node_modules/typescript7/bin/tsc"
const projects = listMembers()
  .filter((member) => member.hasContent)
  .map((member) => member.folder)

/** Writes the declarations by which a test sees other packages: what a package promises, not how it is written. */
const sources = run(tsc, "-b", ...projects)

/** Each returns its problems; empty means it holds. Warnings are printed and fail nothing. */
const checks = [
  [
    "style and mistakes (biome)",
    () => run("node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "--diagnostic-level=warn", "."),
  ],
  ["types of the sources", () => sources],
  ["types of the tests", () => sources.then(() => run(tsc, "-p", "tsconfig.test.json"))],
  ["types of the tests in a browser", () => sources.then(() => run(tsc, "-p", "apps/cowork/test"))],
  ["architecture", () => run("scripts/test.mjs", "test/architecture.test.ts")],
  ["file size", checkFileSize],
  ["exact pins, lockfile without addresses", checkPins],
  ["docs", checkAllDocs],
]

const started = Date.now()
const results = checks.map(async ([name, check]) => {
  const begin = Date.now()
  const { problems, warnings = [] } = await Promise.resolve()
    .then(check)
    .catch((error) => ({ problems: [error instanceof Error ? (error.stack ?? error.message) : String(error)] }))
  return { name, problems, warnings, milliseconds: Date.now() - begin }
})

const failed = []
for (const result of results) {
  const { name, problems, warnings, milliseconds } = await result
  console.log(`${problems.length === 0 ? "ok  " : "FAIL"} ${name} (${(milliseconds / 1000).toFixed(1)} s)`)
  for (const warning of warnings) console.log(`     warning: ${warning}`)
  if (problems.length > 0) failed.push({ name, problems })
}
for (const { name, problems } of failed) console.error(`\n--- ${name}\n${problems.join("\n")}`)
const seconds = ((Date.now() - started) / 1000).toFixed(1)
if (failed.length > 0) {
  console.error(
    `\nFailed: ${failed.map(({ name }) => name).join("; ")} (${seconds} s). \`pnpm fix\` mends what is only style.`,
  )
  process.exitCode = 1
} else {
  console.log(`All checks hold (${seconds} s).`)
}

/** Runs one of our own tools with this Node; its output is the problem when it fails. */
function run(script, ...args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, script), ...args], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    })
    const output = []
    child.stdout.on("data", (chunk) => output.push(chunk))
    child.stderr.on("data", (chunk) => output.push(chunk))
    child.on("error", (error) => resolve({ problems: [error.message] }))
    child.on("close", (status, signal) => {
      const text = Buffer.concat(output).toString("utf8").trim()
      resolve({ problems: status === 0 ? [] : [text || `ended with ${signal ?? status} and said nothing`] })
    })
  })
}
