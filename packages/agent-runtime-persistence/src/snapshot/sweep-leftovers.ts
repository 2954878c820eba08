/**
 * Temporary files that a killed keepup left beside the file it was about to write. They are never captured, and taken
 * away once they are surely nobody's: the name is ours, the process it names is gone, and it has lain there for an hour,
 * so that a process on another machine or in a container is not mistaken for a dead one.
 */
import { unlinkSync } from "node:fs"
import { type BytePath, nameOf } from "./byte-path.js"
import { lookAtDisk, type WorkspaceFiles } from "./workspace-files.js"

/** As an ignore rule. */
export const leftoverPattern = `.*.[0-9]*-${"[0-9a-f]".repeat(8)}.keepup-tmp`
const leftoverName = /^\..*\.(\d+)-[0-9a-f]{8}\.keepup-tmp$/s
const abandonedMs = 60 * 60_000

export function isLeftover(name: BytePath): boolean {
  return name.endsWith(".keepup-tmp") && leftoverName.test(name)
}

/** `now` in milliseconds of the real clock. What can't be removed stays. */
export function sweepLeftovers(files: WorkspaceFiles, paths: readonly BytePath[], now: number): void {
  for (const path of paths) {
    const owner = Number(leftoverName.exec(nameOf(path))?.[1])
    const stat = lookAtDisk(files.resolve(path))
    if (!stat?.isFile() || stat.mtimeMs > now - abandonedMs || isAlive(owner)) continue
    try {
      unlinkSync(files.resolve(path))
    } catch {
      // It is gone, or not ours to remove: either way it is no part of any snapshot.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"
  }
}
