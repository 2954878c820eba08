import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, unlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { createHeldFiles, moveHeld } from "./held-files.js"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepup-held-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Files of the test's folder that this process has open. */
function listOpen(): string[] {
  const links = readdirSync("/proc/self/fd").map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      return "" // closed meanwhile
    }
  })
  return links.filter((path) => path.startsWith(folder))
}

it.runIf(process.platform === "linux")("keeps a removed file until it is let go", async () => {
  const held = createHeldFiles()
  const file = join(folder, "file")
  writeFileSync(file, "content")
  held.hold(file)
  unlinkSync(file)
  expect(listOpen()).toEqual([`${file} (deleted)`])
  held.letGo()
  held.letGo()
  await vi.waitFor(() => expect(listOpen()).toEqual([]), { timeout: 25_000 })
})

it.runIf(process.platform === "linux")("holds a few, and never what is not there", () => {
  const held = createHeldFiles()
  held.hold(join(folder, "absent"))
  expect(listOpen()).toEqual([])
  for (let i = 0; i < 300; i++) {
    writeFileSync(join(folder, `${i}`), "")
    held.hold(join(folder, `${i}`))
  }
  const open = listOpen().length
  expect(open).toBeLessThan(300)
  held.letGo()
})

it.runIf(process.platform === "linux")("frees the oldest when there is no room, and then holds the next", async () => {
  const held = createHeldFiles()
  const paths = Array.from({ length: 600 }, (_, i) => join(folder, `${i}`))
  for (const path of paths) {
    writeFileSync(path, "old")
    writeFileSync(`${path}.staged`, "new")
  }
  let waits = 0
  let most = 0
  for (const path of paths) {
    const room = held.makeRoom()
    if (room !== undefined) waits++
    await room
    moveHeld(held, `${path}.staged`, path)
    most = Math.max(most, listOpen().length)
  }
  expect(waits).toBe(Math.ceil((600 - most) / (most / 2)))
  expect(most).toBeGreaterThan(10)
  expect(most).toBeLessThan(100)
  expect(listOpen()).toContain(`${paths[599]} (deleted)`)
  expect(listOpen()).not.toContain(`${paths[0]} (deleted)`)
  expect(paths.map((path) => readFileSync(path, "utf8"))).toEqual(paths.map(() => "new"))
  held.letGo()
  await vi.waitFor(() => expect(listOpen()).toEqual([]), { timeout: 25_000 })
})

it.runIf(process.platform === "linux")("frees as many as it is asked to, the oldest first", async () => {
  const held = createHeldFiles()
  const paths = Array.from({ length: 40 }, (_, i) => join(folder, `${i}`))
  for (const path of paths) {
    writeFileSync(path, "")
    held.hold(path)
  }
  await held.makeRoom(16)
  expect(listOpen().sort()).toEqual(paths.slice(24).sort())
  expect(held.makeRoom(16)).toBe(undefined)
  held.letGo()
})
