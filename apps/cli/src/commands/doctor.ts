/** `doctor`: proves that everything that was kept can be brought back, and mends what can be mended. */
import { checkStore, type Finding, placesIn, type Runtime, repairStore } from "@ku0/agent-runtime"
import type { Command } from "../command.js"
import type { Context } from "../context.js"
import { readSettings } from "../open-workspace.js"
import { type Fact, renderFacts } from "../output/facts.js"
import { oneLine, pad, plural, thousands } from "../output/text.js"
import { version } from "../version.js"
import { showValue } from "./config/list.js"

export const doctorCommand: Command = {
  summary: "prove that everything kept can be brought back; mend it",
  description: [
    "Checks the database, every session's log, checkpoints, values, artifacts and snapshots, and what a crash may have left. " +
      "Changes nothing without --repair. With it, rows are made again from the log, refs from rows, and what died is closed; a copy " +
      "of the database is kept before. Ends with CORRUPT if something is wrong that is still there.",
  ],
  options: [{ flags: "--repair", summary: "mend what can be mended without guessing" }],
  examples: [
    { command: "keepup doctor", does: "Is everything sound?" },
    { command: "keepup doctor --repair", does: "Mend what a crash or a disk did" },
  ],
  exits: ["CORRUPT"],
  async run(context, input) {
    const runtime = await context.openRuntime({ recover: false })
    const { stateDirectory } = context
    const onProgress = (done: number, total: number, part: string) =>
      context.progress.report(`Checking the parts of the store, now ${part}`, done, total)
    const repaired = input.flag("repair")
      ? await context.uninterrupted(() => repairStore(runtime, { stateDirectory, onProgress }), {
          finishing: "What is being mended",
        })
      : undefined
    const findings = repaired?.left ?? (await checkStore(runtime, { stateDirectory, onProgress }))
    const facts = describePlace(context, runtime)
    const document = {
      healthy: !findings.some(isBad),
      findings,
      ...(repaired && { repaired: { backup: repaired.backup ?? null, done: repaired.done } }),
      store: facts,
    }
    context.answer(document, () =>
      [
        renderPlace(context, facts),
        ...(repaired?.done ?? []).map((line) => `mended   ${oneLine(line)}`),
        ...(repaired?.backup === undefined ? [] : [`backup   ${oneLine(repaired.backup)}`]),
        ...renderFindings(context, findings),
        renderVerdict(findings, repaired !== undefined),
      ].join("\n"),
    )
    if (findings.some(isBad)) context.endWith("CORRUPT")
  },
}

function isBad({ severity }: Finding): boolean {
  return severity === "error"
}

function describePlace(context: Context, runtime: Runtime): Record<string, string> {
  const { flags, machine, stateDirectory, workspacePath } = context
  const db = flags.db ?? machine.environment["KEEPUP_DB"]
  const places = placesIn(stateDirectory, { ...(db && { db }), storage: runtime.config.storage, workspacePath })
  return {
    keepup: version,
    node: process.version,
    database: places.db.replace(/\/\/.*@/, "//"),
    schema: String(runtime.store.schemaVersion),
    stateDirectory,
  }
}

/** What people call what programs call otherwise. */
const names: Readonly<Record<string, string>> = { stateDirectory: "state folder" }

function renderPlace(context: Context, facts: Readonly<Record<string, string>>): string {
  const { styles, width } = context
  const set = readSettings(context).settings.filter(({ source }) => source !== "default")
  const rows: Fact[] = [
    ...Object.entries(facts).map(([name, value]): Fact => [names[name] ?? name, oneLine(value)]),
    ...set.map(({ key, value, source }): Fact => [key, `${showValue(value)} (${source})`]),
  ]
  return `${renderFacts(rows, width, styles, "")}\n`
}

const mostAlike = 5

/** A disk that went bad says the same of a thousand rows: a few of each kind are enough to read. `--json` has all. */
function renderFindings(context: Context, findings: readonly Finding[]): string[] {
  const kinds = new Map<string, Finding[]>()
  for (const one of findings) {
    const kind = `${one.severity} ${one.what}`
    kinds.set(kind, [...(kinds.get(kind) ?? []), one])
  }
  return [...kinds.values()].flatMap((alike) => {
    const shown = alike.slice(0, mostAlike).map((one) => renderFinding(context, one))
    const more = alike.length - shown.length
    return more > 0 ? [...shown, context.styles.dim(`         … and ${thousands(more)} more like this`)] : shown
  })
}

function renderFinding({ styles }: Context, { severity, what, where, canRepair }: Finding): string {
  const paint = severity === "error" ? styles.red : severity === "warning" ? styles.magenta : styles.dim
  return `${paint(pad(severity, 7))}  ${oneLine(what)} ${styles.dim(`(${oneLine(where)})`)}${canRepair ? "  [can be mended]" : ""}`
}

function renderVerdict(findings: readonly Finding[], isRepaired: boolean): string {
  const bad = findings.filter(isBad).length
  if (findings.length === 0) return "Everything is sound: all that was kept can be brought back."
  const mendable = findings.filter(({ canRepair }) => canRepair).length
  const hint = !isRepaired && mendable > 0 ? ` Mend ${mendable} of them with: keepup doctor --repair` : ""
  return `${plural(findings.length, "finding")}, ${plural(bad, "error")}.${hint}`
}
