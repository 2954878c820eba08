/** Subject `cowork`: the server under many clients, for a bounded time, and killed under them. */
import { pathToFileURL } from "node:url"
import { bundle } from "../harness/build.mjs"
import { table } from "../harness/report.mjs"
import { load } from "./load.mjs"
import { fillPlace } from "./place.mjs"

const parts = { steady: { isKilled: false }, killed: { isKilled: true } }

export async function run(context) {
  const program = await bundle("cowork/serve-entry.ts", "esm")
  const library = await bundle("cowork/keepup-entry.ts", "esm")
  if (program === null || library === null) throw new Error("The server could not be bundled; see above.")
  const { openRuntime } = await import(pathToFileURL(library).href)
  const rows = []
  for (const [name, options] of Object.entries(parts)) {
    if (context.only && !context.only.includes(name)) continue
    const place = await fillPlace(openRuntime, context.scratch.folder(`cowork-${name}`))
    const result = await load(program, place, { ...options, seconds: context.quick ? 6 : 30 })
    await place.runtime.close()
    context.keep("cowork", name, result)
    rows.push([
      ...[
        name,
        result.followers,
        result.perSecond,
        result.errors,
        result.refused,
        result.medianMs,
        result.p99Ms,
        result.cpuMsEach,
      ],
      ...[result.gaps + result.repeats, result.downMs, result.memoryMb.middle, result.memoryMb.end],
    ])
  }
  const heads = ["part", "streams", "answers/s", "errors", "refused", "median ms", "p99 ms", "cpu ms each"]
  heads.push("gaps and repeats", "down ms", "MB middle", "MB end")
  context.print("The cowork server under load", table(heads, rows))
}
