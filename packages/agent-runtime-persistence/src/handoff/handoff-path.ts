/** Where the handoff goes: a path in the workspace, with `{branch}`, `{session}` and `{issue}` filled in. */
import { isAbsolute, relative, resolve, sep } from "node:path"
import { KeepupError, type Session, shortId } from "@ku0/agent-runtime-core"

export interface FillHandoffPathOptions {
  /** `handoff.path` of the configuration. */
  readonly template: string
  readonly workspacePath: string
  readonly session: Session
  readonly branch?: string | null
  /** The number of the branch's name unless told. */
  readonly issue?: string
}

/** An absolute path. A template that leads out of the workspace, or needs what is not known, is `INVALID_INPUT`. */
export function fillHandoffPath(options: FillHandoffPathOptions): string {
  const { template, workspacePath, session, branch } = options
  const values: Readonly<Record<string, string | undefined>> = {
    branch: branch ?? undefined,
    session: shortId(session.id),
    issue: options.issue ?? /\d+/.exec(branch ?? "")?.[0],
  }
  const filled = template.replace(/\{(\w+)\}/g, (word, name: string) => {
    if (!Object.hasOwn(values, name)) throw refused(`There is nothing to put in for ${word} in handoff.path.`)
    const value = toName(values[name] ?? "")
    if (value === "") throw refused(`handoff.path needs ${word}, and there is none here.`)
    return value
  })
  const path = resolve(workspacePath, filled)
  const inside = relative(workspacePath, path)
  const leadsOut = inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)
  if (filled.trim() === "" || filled.includes("\0") || leadsOut) {
    throw refused(`${JSON.stringify(filled)} is not a file in the workspace.`)
  }
  if (inside.split(sep).some((name) => name.toLowerCase() === ".git")) {
    throw refused(`${JSON.stringify(filled)} belongs to git.`)
  }
  return path
}

/** One name of a file or folder, whatever was in it. */
function toName(text: string): string {
  return text
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[.-]+|[.-]+$/g, "")
    .slice(0, 100)
}

function refused(message: string): KeepupError {
  return new KeepupError("INVALID_INPUT", message, {
    hint: "Set handoff.path to a file such as .agents/HANDOFF.md, or to nothing.",
  })
}
