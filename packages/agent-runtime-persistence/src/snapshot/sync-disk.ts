/**
 * Makes a whole disk durable, where the system can do that and says how it went: for many new files that is one turn of
 * the disk instead of one each. But it also writes out what other programs left, however long that takes, so nobody
 * should depend on it alone.
 */
import { spawn } from "node:child_process"
import { statfsSync } from "node:fs"
import { release } from "node:os"

/**
 * True when everything that was written on the folder's disk before the call is durable. False when that can't be had,
 * or not told for sure; also when it was stopped. Never throws.
 */
export type SyncDisk = (folder: string, stop: AbortSignal) => Promise<boolean>

/** ext4 (and its elders), XFS and Btrfs: what they say is on the disk is there. Others may have more disks behind them. */
const localDisks: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e])

export function createSyncDisk(environment: Readonly<Record<string, string | undefined>>): SyncDisk {
  return async (folder, stop) => {
    if (!canSync(folder)) return false
    const synced = new Promise<boolean>((resolve) => {
      const child = spawn("sync", ["-f", folder], { env: environment, stdio: "ignore" })
      child.unref()
      const end = (isDone: boolean) => {
        stop.removeEventListener("abort", kill)
        resolve(isDone)
      }
      const kill = () => {
        child.kill("SIGKILL")
        end(false) // it may go on until the disk is done
      }
      stop.addEventListener("abort", kill)
      child.on("error", () => end(false))
      child.on("exit", (code) => end(code === 0))
    })
    return await synced.catch(() => false) // some reasons why a program can't be started are thrown
  }
}

function canSync(folder: string): boolean {
  if (process.platform !== "linux" || !saysHowItWent()) return false
  try {
    return localDisks.has(statfsSync(folder).type)
  } catch {
    return false
  }
}

/** Before Linux 5.8 nobody was told that something could not be written. */
function saysHowItWent(): boolean {
  const [major = 0, minor = 0] = release().split(".").map(Number)
  return major > 5 || (major === 5 && minor >= 8)
}
