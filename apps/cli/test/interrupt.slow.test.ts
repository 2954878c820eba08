/** Ctrl-C in the middle of what takes long, with the real program: exit 130, nothing half done, and it says how things are. */
import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { existsSync, readdirSync, rmSync, watch } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest"
import { buildOnce, openPlace, type Place } from "./real-keepup.js"

let place: Place

beforeAll(buildOnce)
beforeEach(() => {
  place = openPlace()
})
afterEach(() => place.remove())

/** Files that can't be compressed: what is written of them comes to disk early, not all of it at the end. */
function writeMany(count: number): void {
  for (let i = 0; i < count; i++) place.write(`d${i % 40}/f${i}.txt`, randomBytes(1500).toString("hex"))
}

/** Every file with its content, as one text. */
function picture(): string {
  const { stdout } = spawnSync("bash", ["-c", "find . -type f | sort | xargs cat | sha256sum; find . | sort"], {
    cwd: place.workspace,
    encoding: "utf8",
  })
  return stdout
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Starts keepup, sends signals when `isDue` says so, and returns how it ended. It stands still while we look. */
async function interrupt(
  words: readonly string[],
  isDue: () => boolean,
  signals: readonly NodeJS.Signals[],
): Promise<Ended> {
  const child = place.start(...words)
  const said = { out: "", err: "" }
  child.stdout?.on("data", (chunk) => (said.out += chunk))
  child.stderr?.on("data", (chunk) => (said.err += chunk))
  const ended = once(child, "close")
  while (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGSTOP")
    if (isDue()) break
    child.kill("SIGCONT")
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  for (const signal of signals) {
    child.kill(signal)
    child.kill("SIGCONT")
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  const [code] = await ended
  return { code, ...said }
}

/** A signal that came too late, on a busy machine, finds the work done: then once more, from where it began. */
async function inTime(once: () => Promise<Ended>, isTooLate: (ended: Ended) => boolean, again: () => void) {
  for (let attempt = 1; ; attempt++) {
    const ended = await once()
    if (attempt === 20 || !isTooLate(ended)) return ended
    again()
  }
}

const stateOf = () => join(place.root, "home/.local/state/keepup")

function hasPack(): boolean {
  const folder = join(stateOf(), "snapshots")
  return existsSync(folder) && readdirSync(folder, { recursive: true }).some((name) => String(name).includes("tmp"))
}

it("stops a first checkpoint: there is none, nothing is left of it, and the next one is whole", async () => {
  const isReading = () => existsSync(join(stateOf(), "keepup.db")) && hasPack()
  writeMany(8_000)
  const stopped = await inTime(
    () => interrupt(["checkpoint", "create"], isReading, ["SIGINT"]),
    ({ out }) => out !== "",
    () => {
      expect(place.ask("checkpoint", "list").checkpoints).toHaveLength(1)
      rmSync(stateOf(), { recursive: true })
    },
  )
  expect(stopped).toEqual({
    code: 130,
    out: "",
    err: "cancelled: No checkpoint was made; the next one begins anew.\n",
  })
  expect(place.ask("session", "list").sessions).toEqual([])
  expect(place.run("checkpoint", "create").out).toContain("Files: 8,000 in all.")
  expect(place.ask("doctor")).toMatchObject({ healthy: true })
})

it("stops a restore before a file is touched, or finishes it; both can be seen and undone", async () => {
  writeMany(6_000)
  place.run("checkpoint", "create")
  const whole = picture()
  for (const name of readdirSync(place.workspace)) rmSync(join(place.workspace, name), { recursive: true })
  place.write("other.txt", "other\n")
  const before = picture()
  const isStaging = () => readdirSync(place.workspace).some((name) => name.startsWith(".keepup-"))
  const restore = ["checkpoint", "restore", "1", "--yes"]
  const undo = () => {
    expect(place.run("checkpoint", "undo").code).toBe(0)
    expect(picture()).toBe(before)
  }
  const stopped = await inTime(
    () => interrupt(restore, isStaging, ["SIGINT"]),
    ({ out }) => out !== "",
    undo,
  )
  expect(stopped).toMatchObject({ code: 130, out: "" })
  expect(stopped.err).toMatch(
    /^The restore is not left half done.*\ncancelled: Stopped before any file was changed\.\n$/,
  )
  expect(picture()).toBe(before)

  const isTouched = () => !existsSync(join(place.workspace, "other.txt"))
  const isAfterAll = ({ err }: Ended) => !err.includes("The restore is not left half done.")
  const finished = await inTime(() => interrupt(restore, isTouched, ["SIGTERM"]), isAfterAll, undo)
  expect(finished.code).toBe(130)
  expect(finished.out).toContain("Restored #1 manual: 6,000 files written, 1 file deleted.")
  expect(finished.err).toContain("It was finished before the signal could stop it.")
  expect(picture()).toBe(whole)
  undo()

  const twice = await inTime(() => interrupt(restore, isTouched, ["SIGINT", "SIGINT"]), isAfterAll, undo)
  expect(twice.code).toBe(130)
  const next = place.run("session", "list")
  expect(next.code).toBe(0)
  if (!twice.out.includes("Restored")) {
    expect(next.err).toMatch(/A restore that was broken off was (finished|taken back)/)
  }
  expect([before, whole]).toContain(picture())
})

it("stops an export: there is no file, also none of its own, and one that was there stays", async () => {
  writeMany(6_000)
  place.run("checkpoint", "create")
  for (const format of ["keepup", "json"]) {
    const file = join(place.root, `out.${format}`)
    const isWriting = () => readdirSync(place.root).some((name) => name.endsWith(".tmp"))
    const words = ["session", "export", "latest", file, "--format", format]
    const stopped = await inTime(
      () => interrupt(words, isWriting, ["SIGINT"]),
      () => existsSync(file),
      () => rmSync(file),
    )
    expect(stopped).toMatchObject({ code: 130, out: "", err: expect.stringMatching(/^cancelled: Stopped; .* was not/) })
    expect(readdirSync(place.root).filter((name) => name.startsWith("out.") || name.endsWith(".tmp"))).toEqual([])
  }
})

it("stops what only reads at once, also in the middle", async () => {
  place.run("checkpoint", "create")
  let isSeen = false
  const watcher = watch(stateOf(), () => {
    isSeen = true
  })
  const followed = await interrupt(["session", "logs", "--follow"], () => isSeen, ["SIGINT"])
  watcher.close()
  expect(followed).toMatchObject({ code: 130, err: "cancelled: Stopped by a signal.\n" })
})
