/** Paths a person names, from where they stand, as paths in the workspace. */
import { relative, resolve, sep } from "node:path"
import { KeepupError } from "@ku0/agent-runtime"
import type { Context } from "./context.js"

/** "." for the workspace itself. A path outside is `INVALID_INPUT`: nothing there is ever captured. */
export function toWorkspacePaths(context: Context, workspacePath: string, paths: readonly string[]): string[] {
  const { machine, flags } = context
  const from = flags.cwd === undefined ? machine.currentDirectory : resolve(machine.currentDirectory, flags.cwd)
  return paths.map((path) => {
    const inside = relative(workspacePath, resolve(from, path)).split(sep).join("/")
    if (inside !== ".." && !inside.startsWith("../") && !inside.startsWith("/")) return inside === "" ? "." : inside
    throw new KeepupError("INVALID_INPUT", `${path} is not in the workspace ${workspacePath}.`, {
      hint: "Name files and folders of the workspace.",
    })
  })
}
