/**
 * Runs the tests: `node scripts/test.mjs [package] [--slow] [vitest options and filters]`.
 * Without a package: all of them. `--grep X` means vitest's `-t X`. A filter that leaves no test to run is a failure.
 * When `KEEPUP_TEST_COUNTS` names a file, one JSON line with the counts is appended to it.
 */
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { parseCLI, startVitest } from "vitest/node"
import { findMember, listMembers, root } from "./workspace.mjs"

const { member, isSlow, args } = readArguments(process.argv.slice(2))
const { filter, options } = parseCLI(["vitest", "run", ...args])
const vitest = await startVitest(
  "test",
  filter,
  {
    ...options,
    root,
    run: true,
    watch: false,
    config: join(root, isSlow ? "vitest.slow.config.ts" : "vitest.config.ts"),
  },
  member === undefined ? {} : { plugins: [onlyIn(member.folder)] },
)
const counts = countTests(vitest)
await vitest.close()

const label = `${member?.name ?? "all"}${isSlow ? " (slow)" : ""}`
const file = process.env.KEEPUP_TEST_COUNTS
if (file) appendFileSync(file, `${JSON.stringify({ run: label, ...counts })}\n`)
if (counts.passed + counts.failed === 0 && options.passWithNoTests !== true) {
  console.error(`No test was run for ${label}${args.length > 0 ? ` with ${args.join(" ")}` : ""}.`)
  process.exitCode = 1
}

/** pnpm hands `--` through, and people put it anywhere. */
function readArguments(given) {
  const rest = given.filter((arg) => arg !== "--")
  const slowAt = rest.indexOf("--slow")
  if (slowAt >= 0) rest.splice(slowAt, 1)
  const names = listMembers().flatMap((one) => [one.name, one.folder.split("/")[1]])
  const member = names.includes(rest[0]) ? findMember(rest.shift()) : undefined
  const args = rest.map((arg) =>
    arg === "--grep" || arg === "-g" ? "-t" : arg.replace(/^--grep=/, "--testNamePattern="),
  )
  return { member, isSlow: slowAt >= 0, args }
}

/** Narrows the patterns of the configuration to one package or app. */
function onlyIn(folder) {
  const everywhere = "{packages,apps}/*/"
  return {
    name: "keepup:only-in",
    enforce: "post",
    config(config) {
      const patterns = config.test.include.filter((pattern) => pattern.startsWith(everywhere))
      config.test.include = patterns.map((pattern) => pattern.replace(everywhere, `${folder}/`))
    },
  }
}

function countTests(vitest) {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const module of vitest.state.getTestModules()) {
    let failedHere = 0
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      counts[state === "pending" ? "failed" : state]++
      if (state === "failed" || state === "pending") failedHere++
    }
    if (module.state() === "failed" && failedHere === 0) counts.failed++
  }
  return counts
}
