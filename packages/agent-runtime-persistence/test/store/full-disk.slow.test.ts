/** A disk that is full, freed, read-only: what is said, and that nothing kept before is lost. */
import { spawnSync } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { openStore } from "../../src/store/open-store.js"
import { bundleProgram, startProgram } from "../../src/testing/start-program.js"
import { createTemporaryFolder, type TemporaryFolder } from "../../src/testing/temporary-folder.js"
import type { Outcome } from "./programs/fill-disk.js"

let folder: TemporaryFolder

beforeAll(() => {
  folder = createTemporaryFolder()
})

afterAll(() => folder.remove())

it("says UNAVAILABLE when the disk is full or read-only, loses nothing, and goes on when it is freed", async () => {
  const disk = folder.file("disk")
  mkdirSync(disk)
  const bundle = await bundleProgram(fileURLToPath(new URL("programs/fill-disk.ts", import.meta.url)))
  const program = startProgram(bundle, [disk], { under: smallDisk(disk) })
  expect(await program.ended, `${program.errors()} ${JSON.stringify(program.said.at(-1))}`).toEqual({
    code: 0,
    signal: null,
  })
  expect(program.said.at(-1)).toMatchObject({ done: true })
  const outcomes = program.said.slice(0, -1) as Outcome[]
  for (const { tried, outcome, hint } of outcomes) {
    expect(["done", "UNAVAILABLE"], tried).toContain(outcome)
    if (outcome === "UNAVAILABLE") expect(hint, tried).toMatch(/disk|space|written|permissions/)
    if (/freed|again|closed/.test(tried)) expect(outcome, tried).toBe("done")
  }
  const refused = new Set(outcomes.filter(({ outcome }) => outcome === "UNAVAILABLE").map(({ tried }) => tried))
  for (const what of ["append", "append a batch", "append a value", "state", "checkpoint", "artifact", "session"]) {
    expect(refused, [...refused].join("\n")).toContain(`${what}, full`)
  }
  for (const what of ["open a new store, full", "append, filling up", "write, read-only"]) {
    expect(refused, [...refused].join("\n")).toContain(what)
  }
})

it.each([
  ["a folder that may not be written", 0o500, 0o600],
  ["a file that may not be written", 0o700, 0o400],
])("says UNAVAILABLE and loses nothing: %s", async (name, folderMode, fileMode) => {
  const place = folder.file(name)
  const path = folder.file(name, "keepup.db")
  const store = await openStore(`sqlite:${path}`)
  await store.sessions.create({ workspacePath: "/w", name: "kept" })
  await store.close()
  const before = readFileSync(path)
  chmodSync(folder.path, 0o755)
  chownSync(place, unprivileged.uid, unprivileged.gid)
  chownSync(path, unprivileged.uid, unprivileged.gid)
  chmodSync(path, fileMode)
  chmodSync(place, folderMode)

  const bundle = await bundleProgram(fileURLToPath(new URL("programs/hold-lease.ts", import.meta.url)))
  const under = process.getuid?.() === 0 ? ["setpriv", `--reuid=${unprivileged.uid}`, "--clear-groups"] : []
  const program = startProgram(bundle, [`sqlite:${path}`, "x"], { under })
  await program.ended
  // refused when it opens, or when it writes
  expect(`${program.errors()} ${JSON.stringify(program.said)}`).toMatch(/"refused":"UNAVAILABLE"|code: 'UNAVAILABLE'/)

  chmodSync(place, 0o700)
  chmodSync(path, 0o600)
  expect(readFileSync(path).equals(before)).toBe(true)
  const again = await openStore(`sqlite:${path}`)
  expect((await again.sessions.list()).map((session) => session.name)).toEqual(["kept"])
  await again.close()
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

const unprivileged =
  process.getuid?.() === 0
    ? { uid: 65_534, gid: 65_534 }
    : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }

/** A command in front of which a few megabytes are mounted on the folder, for it alone. */
function smallDisk(disk: string): string[] {
  const mount = `mount -t tmpfs -o size=20m tmpfs '${disk}' && exec "$@"`
  const reasons: string[] = []
  for (const unshare of [
    ["unshare", "-m"],
    ["unshare", "-rm"],
  ]) {
    const command = [...unshare, "sh", "-c", mount, "sh"]
    const { status, stderr, error } = spawnSync(command[0] as string, [...command.slice(1), "true"], {
      encoding: "utf8",
    })
    if (status === 0) return command
    reasons.push(`${unshare.join(" ")}: ${error?.message ?? stderr.trim()}`)
  }
  throw new Error(`A small disk is needed to prove this, and none can be mounted here. ${reasons.join("; ")}`)
}
