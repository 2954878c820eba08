/** `gc`: frees what nothing reaches any more. */
import type { Command } from "../command.js"
import { bytes, plural } from "../output/text.js"

export const gcCommand: Command = {
  summary: "free what no session and no checkpoint needs any more",
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
    const { values, artifacts, workspaces, left } = report
    for (const { path, reason } of left) context.warn(`The snapshots of ${path} were left as they are: ${reason}`)
    context.answer(
      { values, bytes: report.bytes, artifacts, workspaces, left, ...(isDry && { applied: false }) },
      () => {
        const verb = isDry ? "Would free" : "Freed"
        return [
          `${verb} ${plural(values, "value")} (${bytes(report.bytes)}) in the database and ${plural(artifacts, "artifact")}.`,
          `Snapshots of ${plural(workspaces.length, "workspace")} ${isDry ? "would be swept" : "swept"}.`,
        ].join("\n")
      },
    )
  },
}
