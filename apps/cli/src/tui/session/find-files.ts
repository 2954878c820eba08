/** Files of a workspace that fit what was typed after an `@`: a look into a bounded part of it, never into all of it. */
import { readdir } from "node:fs/promises"
import { join } from "node:path"

const mostFound = 50
/** Names looked at for one answer: enough for a large program, and quick. */
const mostLooked = 20_000
const skipped: ReadonlySet<string> = new Set([".git", ".keepup", "node_modules"])

/** Paths with forward slashes, those that begin with what was typed first; folders end with a slash. */
export async function findFiles(root: string, typed: string): Promise<string[]> {
  const wanted = typed.toLowerCase()
  const folder = typed.includes("/") ? typed.slice(0, typed.lastIndexOf("/") + 1) : ""
  const found: { path: string; rank: number }[] = []
  const folders = [folder]
  let looked = 0
  for (let at = 0; at < folders.length && looked < mostLooked; at++) {
    const here = folders[at] as string
    for (const entry of await list(join(root, here))) {
      if (skipped.has(entry.name)) continue
      looked++
      const path = `${here}${entry.name}${entry.isDirectory() ? "/" : ""}`
      const rank = rankOf(path, wanted)
      if (rank >= 0) found.push({ path, rank })
      if (entry.isDirectory()) folders.push(path)
    }
    if (at === 0 && found.filter(({ rank }) => rank === 0).length >= mostFound) break
  }
  return found
    .sort((a, b) => a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
    .slice(0, mostFound)
    .map(({ path }) => path)
}

function rankOf(path: string, wanted: string): number {
  const lower = path.toLowerCase()
  if (lower.startsWith(wanted)) return 0
  const name = lower.slice(lower.lastIndexOf("/", lower.length - 2) + 1)
  if (name.startsWith(wanted)) return 1
  return wanted !== "" && lower.includes(wanted) ? 2 : -1
}

/** A folder that can't be read offers nothing. */
async function list(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
