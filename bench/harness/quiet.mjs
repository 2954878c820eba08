/** Waits for a quiet moment on a shared machine: untimed, before everybody's turn alike. */
import { closeSync, openSync, unlinkSync } from "node:fs"
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

let usualMs

/**
 * Waits until the disk makes files as fast as at the first call, for five minutes at most. After many were deleted, ext4 looks
 * at every inode that became free before it takes another one: making a file takes ten times as long, and whoever comes next
 * would pay for it.
 */
export async function waitForDisk(folder) {
  usualMs ??= makeFiles(folder)
  const end = performance.now() + 300_000
  while (performance.now() < end && makeFiles(folder) > 2 * usualMs) await wait(5_000)
}

function makeFiles(folder) {
  const path = join(folder, "probe-of-the-disk")
  const times = Array.from({ length: 25 }, () => {
    const start = performance.now()
    closeSync(openSync(path, "wx"))
    const took = performance.now() - start
    unlinkSync(path)
    return took
  })
  return median(times)
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
