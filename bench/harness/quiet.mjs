/** Waits for a quiet moment on a shared machine: untimed, before everybody's turn alike. */
import { closeSync, lstatSync, mkdtempSync, openSync, rmSync } from "node:fs"
import { cpus } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { median } from "./stats.mjs"

let patienceMs = 0
let waited = 0
let gaveUp = 0

/** How long one turn may wait for others to be done; 0, the default: not at all. */
export function setPatience(seconds) {
  patienceMs = seconds * 1000
}

export async function waitForQuiet() {
  const end = performance.now() + patienceMs
  const start = performance.now()
  while (performance.now() < end) {
    if ((await busyShare(80)) < 0.2) {
      waited += performance.now() - start
      return
    }
    await wait(100)
  }
  if (patienceMs > 0) gaveUp++
}

/** Making a file takes so many looks at one on a disk that is at peace; ten times as many and more on one that is not. */
const peaceful = 10

/**
 * Waits until files are made in these folders at the disk's usual pace, for two minutes at most. After many were deleted,
 * ext4 without a journal looks at every inode that became free in the last minute before it takes another one, and whoever
 * comes next would pay for it.
 */
export async function waitForDisk(...folders) {
  const end = performance.now() + 120_000
  for (const folder of folders) while (performance.now() < end && makeFiles(folder) > peaceful) await wait(2_000)
}

/** In a folder of their own: where a disk puts new files depends on when their folder was made. */
function makeFiles(folder) {
  const probe = mkdtempSync(join(folder, ".probe-of-the-disk-"))
  const paths = Array.from({ length: 25 }, (_, i) => join(probe, `${i}`))
  const makes = paths.map((path) => clock(() => closeSync(openSync(path, "wx"))))
  const looks = paths.map((path) => clock(() => lstatSync(path)))
  rmSync(probe, { recursive: true })
  return median(makes) / median(looks)
}

function clock(work) {
  const start = performance.now()
  work()
  return performance.now() - start
}

/** What waiting came to, for the record. */
export const patience = () => ({ patienceMs, waitedMs: Math.round(waited), turnsWithoutQuiet: gaveUp })

/** The share of all cores that was busy during the next milliseconds. */
async function busyShare(ms) {
  const before = totals()
  await wait(ms)
  const after = totals()
  return 1 - (after.idle - before.idle) / (after.all - before.all || 1)
}

function totals() {
  let idle = 0
  let all = 0
  for (const { times } of cpus()) {
    idle += times.idle
    all += times.user + times.nice + times.sys + times.irq + times.idle
  }
  return { idle, all }
}
