/** Finds processes that a tool call left behind, by a mark in their environment. What differs between systems is here. */
import { readdir } from "node:fs/promises"
import { hasMarks } from "./process-tree.js"

/** The variable every command carries: the id of its call. */
export const callIdVariable = "KEEPUP_CALL_ID"

/** And the workspace of its session, in which no other session works meanwhile: the same id may be in use elsewhere. */
export const workspaceVariable = "KEEPUP_WORKSPACE"

/** Pids of live processes of a call; `undefined` where the system does not tell. Processes of other users are not seen. */
export async function findCallProcesses(callId: string, procPath = "/proc"): Promise<number[] | undefined> {
  const mark = `${callIdVariable}=${callId}`
  let names: string[]
  try {
    names = await readdir(procPath)
  } catch {
    return undefined
  }
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => ((await hasMarks(`${procPath}/${pid}`, [mark])) ? [pid] : [])),
  )
  return found.flat()
}
