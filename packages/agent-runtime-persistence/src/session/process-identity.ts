/**
 * Which process this is, and whether another one still lives. A pid alone is not enough: pids are used again, so the
 * start time goes with it. Linux reads /proc; elsewhere `ps` is asked. The one place that differs by system.
 */
import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"

export interface ProcessIdentity {
  /** The machine, and on Linux the pid namespace: the same pid in another container is another process. */
  readonly host: string
  readonly pid: number
  readonly start: string
}

let own: ProcessIdentity | undefined

export async function ownProcess(): Promise<ProcessIdentity> {
  if (own?.pid === process.pid) return own
  own = { host: hostIdentity(), pid: process.pid, start: (await processStart(process.pid)) ?? "unknown" }
  return own
}

/** Whether that very process runs on this host. A process of another host can't be judged here: `undefined`. */
export async function isProcessAlive(identity: ProcessIdentity): Promise<boolean | undefined> {
  if (identity.host !== hostIdentity()) return undefined
  const start = await processStart(identity.pid)
  return start !== undefined && (identity.start === "unknown" || start === identity.start)
}

export function hostIdentity(): string {
  if (process.platform !== "linux") return hostname()
  try {
    return `${hostname()}/${readlinkSync("/proc/self/ns/pid")}`
  } catch {
    return hostname() // no /proc: the name alone has to do
  }
}

/** When a process started, or `undefined` if there is none. */
async function processStart(pid: number): Promise<string | undefined> {
  return process.platform === "linux" ? linuxStart(pid) : await psStart(pid)
}

function linuxStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    if (fields[0] === "Z" || fields[0] === "X") return undefined // dead, but its parent has not looked yet
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()
    return `${boot}:${fields[19]}`
  } catch {
    return undefined // no such process
  }
}

async function psStart(pid: number): Promise<string | undefined> {
  const { spawnSync } = await import("node:child_process")
  const { status, stdout } = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" })
  return status === 0 && stdout.trim() !== "" ? stdout.trim() : undefined
}
