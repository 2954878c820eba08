/** `pnpm bench [subject] [--quick] [--folder DIR] [--only PART,…] [--patient SECONDS] [--json FILE] [--check FILE]`: see README.md beside this file. */
import { existsSync, readFileSync } from "node:fs"
import { cpus, loadavg, release, totalmem } from "node:os"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { benchFolder, installOnFirstUse } from "./harness/build.mjs"
import { scratch } from "./harness/disk.mjs"
import { patience, setPatience } from "./harness/quiet.mjs"
import { section, writeJson, writeText } from "./harness/report.mjs"
import { judge } from "./targets.mjs"

const subjects = ["store", "snapshots", "checkpoints", "agent", "cli", "chat", "cowork"]

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== "--"),
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    folder: { type: "string" },
    only: { type: "string" },
    json: { type: "string" },
    patient: { type: "string", default: "0" },
    check: { type: "string" },
    help: { type: "boolean", default: false },
  },
})

if (values.help || positionals.some((name) => !subjects.includes(name))) {
  console.error(
    `pnpm bench [${subjects.join("|")}] [--quick] [--folder DIR] [--only PART,…] [--patient SECONDS] [--json FILE]\npnpm bench --check FILE   judge the results of an earlier run again`,
  )
  process.exit(values.help ? 0 : 2)
}

if (values.check) {
  summary(JSON.parse(readFileSync(resolve(values.check), "utf8")))
  process.exit(0)
}

installOnFirstUse()
setPatience(Number(values.patient))
const results = join(benchFolder, "results")
const stamp = new Date().toISOString().slice(0, 19).replaceAll(":", "-")
const output = {
  startedAt: new Date().toISOString(),
  machine: {
    node: process.version,
    kernel: release(),
    cores: cpus().length,
    cpu: cpus()[0]?.model,
    memoryGb: Math.round(totalmem() / 2 ** 30),
  },
  quick: values.quick,
  loadBefore: loadavg(),
}
const file = values.json ? resolve(values.json) : join(results, `${stamp}.json`)
let text = ""
const context = {
  quick: values.quick,
  folder: values.folder && resolve(values.folder),
  only: values.only?.split(","),
  scratch: scratch(),
  results,
  stamp,
  print: (title, body) => {
    text += section(title, body)
    writeText(file.replace(/\.json$/, ".md"), text)
  },
  /** Keeps what is measured so far, so that an interrupted run is not lost. */
  keep: (subject, part, value) => {
    output[subject] = { ...output[subject], [part]: value }
    writeJson(file, { ...output, loadAfter: loadavg(), patience: patience() })
  },
}
if (context.folder && !existsSync(context.folder)) throw new Error(`No such folder: ${context.folder}`)

for (const subject of positionals.length > 0 ? positionals : subjects) {
  const { run } = await import(`./${subject}/run.mjs`)
  await run(context)
}
summary(output)
console.error(`Results: ${file}`)
process.exit(0)

function summary(all) {
  const { title, body } = judge(all)
  if (!body) return
  const block = section(title, body)
  if (!values.check) writeText(file.replace(/\.json$/, ".md"), text + block)
}
