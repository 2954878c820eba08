#!/usr/bin/env node
/**
 * The program. What must be as fast as Node itself is answered here, before anything else is loaded: the version, and
 * later `hook`, which other agents call on every step. Everything else is `main`'s.
 */
import { version } from "./version.js"

const [first, ...others] = process.argv.slice(2)

if ((first === "--version" || first === "-V") && others.length === 0) {
  process.stdout.once("error", () => void run()) // which says what is wrong with it
  process.stdout.write(`${version}\n`)
} else {
  void run()
}

/** Taking Node apart piece by piece takes as long as a tenth of its start: when all is done, the process just ends. */
async function run(): Promise<void> {
  const { runMain } = await import("./run-main.js")
  if (await runMain()) process.exit()
}
