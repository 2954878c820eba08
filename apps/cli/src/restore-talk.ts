/** What is said before and after a restore: what it will write, delete and leave alone, and how to take it back. */
import { type Checkpoint, type RestorePlan, type Session, type ShownPlan, shortId } from "@ku0/agent-runtime"
import type { Context } from "./context.js"
import { cut, cutName, oneLine, plural, thousands, wrap } from "./output/text.js"
import { relativeTime } from "./output/time.js"
import { describe } from "./references.js"

const mostPaths = 12

/** The plan, before anything happens. */
export function renderPlan(context: Context, checkpoint: Checkpoint, session: Session, plan: ShownPlan): string {
  const { styles, now, width } = context
  const lines = [
    `${styles.bold(`Restore #${checkpoint.number}`)} ${describe(checkpoint)}, ${relativeTime(checkpoint.createdAt, now)}`,
    `of "${cutName(oneLine(session.name), Math.max(20, Math.min(width, 100) - 18))}" (${shortId(session.id)})`,
    `in ${oneLine(session.workspacePath)}`,
    "",
  ]
  const section = (count: number, title: string, paths: readonly string[], mark: string) => {
    if (count > 0) lines.push(`  ${title}`, ...listPaths(paths, mark, width))
  }
  section(plan.write.length, `${plural(plan.write.length, "file")} written`, plan.write, styles.green("w"))
  section(plan.delete.length, `${plural(plan.delete.length, "file")} deleted`, plan.delete, styles.red("d"))
  if (plan.write.length + plan.delete.length === 0) lines.push("  no file changes")
  if (plan.changedSince.length > 0) {
    const of = `${thousands(plan.changedSince.length)} of these changed since the newest checkpoint`
    lines.push(
      `  ${styles.magenta(of)}, by you or another program`,
      ...listPaths(plan.changedSince, styles.magenta("!"), width),
    )
  }
  if (plan.untouched > 0) lines.push(`  ${plural(plan.untouched, "file")} untouched: the same now as then`)
  if (plan.notCaptured.length > 0) {
    lines.push(
      `  ${plural(plan.notCaptured.length, "path")} never captured, left alone`,
      ...listPaths(
        plan.notCaptured.map(({ path, reason }) => `${path} (${reason})`),
        styles.dim("-"),
        width,
      ),
    )
  }
  if (plan.messagesHidden > 0) {
    const what = plural(plan.messagesHidden, "message leaves", "messages leave")
    lines.push(`  ${what} the conversation; the log keeps them`)
  }
  const ending =
    "What was never captured, like ignored files, is left alone. Everything else is kept in a safety checkpoint first."
  return [...lines, "", wrap(ending, width)].join("\n")
}

/** What was done, and the way back: the command that takes it back. */
export function renderRestored(
  checkpoint: Checkpoint,
  plan: RestorePlan,
  safety: Checkpoint | undefined,
  undo = "keepup checkpoint undo",
): string {
  const done = [
    ...(plan.write.length > 0 ? [`${plural(plan.write.length, "file")} written`] : []),
    ...(plan.delete.length > 0 ? [`${plural(plan.delete.length, "file")} deleted`] : []),
  ]
  const files = done.length === 0 ? "no file changes" : done.join(", ")
  const kept = safety === undefined ? "" : ` Before it is kept as #${safety.number}.`
  const left = listLeft(plan)
  return `Restored #${checkpoint.number} ${describe(checkpoint)}: ${files}.${kept}${left}\nTake it back with: ${undo}`
}

/** What is in the way of a file that the checkpoint holds would be silence otherwise. */
function listLeft({ notCaptured }: RestorePlan): string {
  if (notCaptured.length === 0) return ""
  const named = notCaptured.slice(0, 3).map(({ path, reason }) => `${oneLine(path)} (${reason})`)
  const more = notCaptured.length > named.length ? `, … and ${thousands(notCaptured.length - named.length)} more` : ""
  return `\nLeft alone, because it was never captured: ${named.join(", ")}${more}.`
}

function listPaths(paths: readonly string[], mark: string, width: number): string[] {
  const shown = paths.slice(0, mostPaths).map((path) => `    ${mark} ${cut(oneLine(path), width - 6, "start")}`)
  return paths.length > mostPaths ? [...shown, `    … and ${thousands(paths.length - mostPaths)} more`] : shown
}
