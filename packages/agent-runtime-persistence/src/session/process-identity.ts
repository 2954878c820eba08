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
  own = { host: hostIdentity(), pid: process.pid, start: (await processStart(process.pid)) || "unknown" }
  return own
}

/**
 * Whether that very process runs on `host`, the one we are on. `undefined` if that can't be judged: it is of another
 * host, or we may not look.
 */
export async function isProcessAlive(identity: ProcessIdentity, host: string): Promise<boolean | undefined> {
  if (identity.host !== host) return undefined
  const start = await processStart(identity.pid)
  if (start === undefined || start === gone) return start === undefined ? undefined : false
  return identity.start === "unknown" || start === identity.start
}

/** Names can be the same on several machines, so the machine's own id goes with it where there is one. */
export function hostIdentity(): string {
  if (process.platform !== "linux") return hostname()
  try {
    return `${hostname()}/${machineId()}${readlinkSync("/proc/self/ns/pid")}`
  } catch {
    return hostname() // no /proc: the name alone has to do
  }
}

function machineId(): string {
  try {
    return `${readFileSync("/etc/machine-id", "latin1").slice(0, 8)}/`
  } catch {
    return "" // many containers have none
  }
}

const gone = ""

/** When a process started, `gone` if there is none, `undefined` if we can't know. */
async function processStart(pid: number): Promise<string | undefined> {
  return process.platform === "linux" ? linuxStart(pid) : await psStart(pid)
}

function linuxStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    if (fields[0] === "Z" || fields[0] === "X") return gone // dead, but its parent has not looked yet
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()
    return `${boot}:${fields[19]}`
  } catch {
    return isNowhere(pid) ? gone : undefined // hidden from us, or no file could be opened
  }
}

async function psStart(pid: number): Promise<string | undefined> {
  const { spawnSync } = await import("node:child_process")
  // the same words whatever language and time zone the asking process has
  const env = { PATH: "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC" }
  const { status, stdout } = spawnSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { encoding: "utf8", env })
  if (status !== 0) return isNowhere(pid) ? gone : undefined
  const [state = "", ...start] = stdout.trim().split(/\s+/)
  return state.startsWith("Z") ? gone : start.join(" ")
}

function isNowhere(pid: number): boolean {
  try {
    process.kill(pid, 0) // asks only
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH"
  }
}
