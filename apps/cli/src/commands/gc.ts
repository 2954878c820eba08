/** `gc`: frees what nothing reaches any more, and says how much that was, as measured on the disk. */
import type { GarbageReport } from "@ku0/agent-runtime"
import type { Command } from "../command.js"
import { bytes, plural, thousands } from "../output/text.js"

export const gcCommand: Command = {
  summary: "free what no session and no checkpoint needs any more",
  description: [
    "A checkpoint of the last hour keeps its snapshot, whatever happened to it. A dry run looks at the database only.",
  ],
  options: [{ flags: "--dry-run", summary: "only say what would go" }],
  examples: [{ command: "keepup gc", does: "After deleting sessions or checkpoints" }],
  exits: ["UNAVAILABLE"],
  async run(context, input) {
    const runtime = await context.openRuntime()
    const isDry = input.flag("dry-run")
    context.progress.report("Collecting what nothing needs", 0, 0)
    const { signal } = context
    const report = await context.uninterrupted(() => runtime.collectGarbage({ dryRun: isDry, signal }), {
      finishing: "What is being freed",
      stopped: "Stopped. What was freed stays freed; `keepup gc` goes on with the rest.",
    })
    for (const { path, reason } of report.left)
      context.warn(`The snapshots of ${path} were left as they are: ${reason}`)
    context.answer({ ...report, ...(isDry && { applied: false }) }, () => describe(report))
  },
}

function describe({
  values,
  bytes: inDatabase,
  artifacts,
  artifactBytes,
  snapshots,
  workspaces,
}: GarbageReport): string {
  const found = `${plural(values, "value")} (${bytes(inDatabase)}) in the database`
  const where = `napshots of ${plural(workspaces.length, "workspace")}`
  if (snapshots === undefined) return `Would free ${found}.\nArtifacts and s${where} would be swept.`
  const { dropped, bytesBefore, bytesAfter } = snapshots
  return [
    `Freed ${found} and ${plural(artifacts, "artifact")} (${bytes(artifactBytes ?? 0)}).`,
    `S${where} swept: ${thousands(dropped)} dropped, ${bytes(bytesBefore)} on disk before, ${bytes(bytesAfter)} now.`,
  ].join("\n")
}
