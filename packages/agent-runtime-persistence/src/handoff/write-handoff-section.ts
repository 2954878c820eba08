/**
 * Keeps the handoff in a file of the user: only our section, in one step, and only if nobody else wrote meanwhile. A
 * file that does not want it is left alone, and the caller is told. Nothing is ever committed.
 */
import { lstatSync, readFileSync, realpathSync } from "node:fs"
import { dirname, relative, resolve, sep } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import { findErrorCode, fromFileError } from "../artifact/file-error.js"
import { writeFileAtomic } from "../artifact/write-file-atomic.js"
import { replaceSection } from "./handoff-section.js"
import { type Handoff, renderHandoff } from "./render-handoff.js"

export interface WriteHandoffSectionOptions {
  /** An absolute path, or one in the workspace. */
  readonly path: string
  /** A link that leads out of it is not followed. */
  readonly workspacePath: string
  readonly handoff: Handoff
}

export interface WriteHandoffSectionResult {
  readonly status: "written" | "unchanged" | "left-alone"
  readonly path: string
  /** Why it was left alone. */
  readonly warning?: string
}

interface FoundFile {
  /** Where the bytes are, links followed. */
  readonly path: string
  readonly bytes: Buffer | undefined
  readonly mode: number
}

const tries = 5
const changed = Symbol("changed")

export async function writeHandoffSection(options: WriteHandoffSectionOptions): Promise<WriteHandoffSectionResult> {
  const path = resolve(options.workspacePath, options.path)
  const section = renderHandoff(options.handoff)
  for (let attempt = 1; ; attempt++) {
    const file = find(path, options.workspacePath)
    if (typeof file === "string") return { status: "left-alone", path, warning: file }
    const result = replaceSection(file.bytes, section, path)
    if ("leaveAlone" in result) return { status: "left-alone", path, warning: result.leaveAlone }
    if (file.bytes?.equals(result.content) === true) return { status: "unchanged", path }
    try {
      await writeFileAtomic(file.path, result.content, {
        mode: file.mode,
        onStep: (step) => {
          if (step === "synced" && !isSame(file)) throw changed
        },
      })
      return { status: "written", path }
    } catch (error) {
      if (error !== changed) throw error
      if (attempt === tries) {
        throw new KeepupError("CONFLICT", `${path} is being written by someone else; it was not changed.`, {
          hint: "Try again when they are done.",
        })
      }
    }
  }
}

/** The file, or why it must be left alone. */
function find(path: string, workspacePath: string): FoundFile | string {
  try {
    const real = realpathSync(path)
    if (leadsOut(real, realpathSync(workspacePath))) return `${path} leads out of the workspace.`
    const { mode } = lstatSync(real)
    if (!lstatSync(real).isFile()) return `${path} is not a file.`
    if ((mode & 0o222) === 0) return `${path} may not be written.`
    return { path: real, bytes: readFileSync(real), mode: mode & 0o777 }
  } catch (error) {
    if (findErrorCode(error) === "ENOENT") return findMissing(path, workspacePath)
    throw fromFileError(error, `read ${path}`)
  }
}

function findMissing(path: string, workspacePath: string): FoundFile | string {
  const isBrokenLink = lstatSync(path, { throwIfNoEntry: false }) !== undefined
  if (isBrokenLink) return `${path} is a link to nothing.`
  // the folder it would be made in, or the nearest one above that is there, may be a link too
  let folder = dirname(path)
  while (lstatSync(folder, { throwIfNoEntry: false }) === undefined) folder = dirname(folder)
  const isOut = leadsOut(realpathSync(folder), realpathSync(workspacePath))
  return isOut ? `${path} leads out of the workspace.` : { path, bytes: undefined, mode: 0o644 }
}

/** What is git's is none of the workspace either. */
function leadsOut(path: string, folder: string): boolean {
  const [first, ...rest] = relative(folder, path).split(sep)
  return first === ".." || [first, ...rest].some((name) => name?.toLowerCase() === ".git")
}

/** Whether the file still is what it was when we read it. */
function isSame({ path, bytes }: FoundFile): boolean {
  try {
    const now = readFileSync(path)
    return bytes?.equals(now) === true
  } catch (error) {
    if (findErrorCode(error) === "ENOENT") return bytes === undefined
    throw error
  }
}
