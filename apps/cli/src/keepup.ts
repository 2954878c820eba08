#!/usr/bin/env node
/**
 * The program. What must be as fast as Node itself is answered here, before anything else is loaded: the version, and
 * later `hook`, which other agents call on every step. Everything else is `main`'s.
 */
import { version } from "./version.js"

const [first, ...others] = process.argv.slice(2)

if ((first === "--version" || first === "-V") && others.length === 0) {
  process.stdout.write(`${version}\n`)
} else {
  void import("./run-main.js").then(({ runMain }) => runMain())
}
