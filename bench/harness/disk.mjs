/** Scratch folders, and how much a folder takes on disk. */
import { spawnSync } from "node:child_process"
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Bytes really allocated (blocks, not lengths) and the number of files, like `du`. */
export function usage(path) {
  let bytes = 0
  let files = 0
  const stack = [path]
  while (stack.length > 0) {
    const current = stack.pop()
    let stat
    try {
      stat = lstatSync(current)
    } catch {
      continue
    }
    bytes += stat.blocks * 512
    if (!stat.isDirectory()) files++
    else for (const name of readdirSync(current)) stack.push(join(current, name))
  }
  return { bytes, files }
}

/** A scratch folder for the whole run, removed at the end, also after a failure or Ctrl-C. */
export function scratch(base = process.env.KEEPUP_BENCH_TMP ?? tmpdir()) {
  mkdirSync(base, { recursive: true })
  const root = spread(mkdtempSync(join(base, "keepup-bench-")))
  const remove = () => rmSync(root, { recursive: true, force: true, maxRetries: 3 })
  process.on("exit", remove)
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130))
  return { root, folder: (name) => fresh(join(root, name)) }
}

export function fresh(path) {
  rmSync(path, { recursive: true, force: true, maxRetries: 3 })
  mkdirSync(path, { recursive: true })
  return path
}

/**
 * Lets a disk put the folders made in this one far from each other, where it can be told to: on ext4 without a journal
 * whoever makes files where others deleted many pays for those. Returns the folder.
 */
export function spread(path) {
  mkdirSync(path, { recursive: true })
  spawnSync("chattr", ["+T", path]) // a wish; other disks have no such thing
  return path
}

export function freeGigabytes(path) {
  const facts = statfsSync(path)
  return (facts.bavail * facts.bsize) / 2 ** 30
}

/**
 * Writes out what is waiting to be written on a folder's disk. Done before each timed step, untimed: otherwise the one that
 * calls fsync pays for what the one before left unwritten.
 */
export function flush(path) {
  spawnSync("sync", ["-f", path])
}
