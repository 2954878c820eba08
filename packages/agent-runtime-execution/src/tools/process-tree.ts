/**
 * Everything a process has started, wherever it went: by group, by parent, and by marks in the environment, which stay when a
 * parent is gone. Only who drops both (a process of another user, or one that cleared its environment after its parent
 * was gone) is not found. What differs between systems is here: without `/proc`, `ps` tells the parents and no marks.
 */
import { execFile } from "node:child_process"
import { readdir, readFile } from "node:fs/promises"
import { promisify } from "node:util"

export interface ProcessTree {
  /** Looks for what is there now, and tells whether anything is. What was found stays known when its parent ends. */
  find(): Promise<boolean>
  /** Sends a signal to those found, to those outside of the root's process group alone if told. */
  kill(signal: NodeJS.Signals, where?: "everywhere" | "outside"): void
  /** Kills until nothing is found any more. */
  end(): Promise<void>
}

interface Found {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** With the pid, tells a process from one that comes later. */
  readonly start: string
}

/** More than enough for one that starts others as fast as it can. */
const maxRounds = 200

export function createProcessTree(root: number, marks: readonly string[], procPath = "/proc"): ProcessTree {
  let known: readonly Found[] = []

  async function find(): Promise<boolean> {
    const all = await listProcesses(procPath)
    const isKnown = (one: Found): boolean => known.some(({ pid, start }) => pid === one.pid && start === one.start)
    if (all.length === 0) return killOne(-root, 0) // nobody tells: at least the group is known
    const family = new Set([root, ...all.filter((one) => one.group === root || isKnown(one)).map(({ pid }) => pid)])
    if (marks.length > 0) {
      const isMarked = await Promise.all(all.map(async ({ pid }) => await hasMarks(`${procPath}/${pid}`, marks)))
      for (const [place, { pid }] of all.entries()) if (isMarked[place] === true) family.add(pid)
    }
    for (let size = 0; size !== family.size; ) {
      size = family.size
      for (const { pid, parent } of all) if (family.has(parent)) family.add(pid)
    }
    family.delete(process.pid)
    known = all.filter(({ pid }) => family.has(pid))
    return known.length > 0
  }

  function kill(signal: NodeJS.Signals, where = "everywhere"): void {
    for (const { pid, group } of known) if (where === "everywhere" || group !== root) killOne(pid, signal)
  }

  return {
    find,
    kill,
    async end() {
      for (let round = 0; round < maxRounds && (await find()); round++) {
        killOne(-root, "SIGKILL")
        kill("SIGKILL")
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
  }
}

function killOne(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false // it has ended, or is not ours
  }
}

/** All processes that have not ended. */
async function listProcesses(procPath: string): Promise<Found[]> {
  const names = await readdir(procPath).catch(() => undefined)
  if (names === undefined) return await askPs()
  const pids = names.filter((name) => /^\d+$/.test(name))
  return (await Promise.all(pids.map(async (pid) => await readStat(procPath, pid)))).flat()
}

async function readStat(procPath: string, pid: string): Promise<Found[]> {
  const text = await readFile(`${procPath}/${pid}/stat`, "latin1").catch(() => "")
  // the name before may hold anything, brackets too
  const [state, parent, group, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ")
  if (parent === undefined || state === "Z" || state === "X") return []
  return [{ pid: Number(pid), parent: Number(parent), group: Number(group), start: rest[16] ?? "" }]
}

async function askPs(): Promise<Found[]> {
  const asked = promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,pgid=,state=,lstart="])
  const { stdout } = await asked.catch(() => ({ stdout: "" })) // without ps the group is all we know
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parent, group, state, start = ""] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    if (pid === undefined || state?.startsWith("Z") === true) return []
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), start }]
  })
}

/** Whether a process carries all marks, each `NAME=value`. */
export async function hasMarks(folder: string, marks: readonly string[]): Promise<boolean> {
  try {
    const environment = (await readFile(`${folder}/environ`, "latin1")).split("\0")
    return marks.every((mark) => environment.includes(Buffer.from(mark).toString("latin1")))
  } catch {
    // Gone, or somebody else's.
    return false
  }
}
