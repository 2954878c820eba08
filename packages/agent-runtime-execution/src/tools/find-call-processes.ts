/** Finds processes that a tool call left behind, by a mark in their environment. What differs between systems is here. */
import { readdir, readFile } from "node:fs/promises"

/** The variable every command carries: the id of its call. */
export const callIdVariable = "KEEPUP_CALL_ID"

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
  const found = await Promise.all(pids.map(async (pid) => ((await hasMark(`${procPath}/${pid}`, mark)) ? [pid] : [])))
  return found.flat()
}

async function hasMark(folder: string, mark: string): Promise<boolean> {
  try {
    const environment = await readFile(`${folder}/environ`, "latin1")
    return environment.split("\0").includes(mark)
  } catch {
    // Gone, or somebody else's.
    return false
  }
}
