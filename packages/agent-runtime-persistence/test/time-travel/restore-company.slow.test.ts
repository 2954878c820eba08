/** Going back in company: other processes at the same time, a session that runs, and a disk without room. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { checkStore } from "../../src/recovery/check-store.js"
import { bundleProgram, startProgram } from "../../src/testing/start-program.js"
import { createTemporaryFolder, type TemporaryFolder } from "../../src/testing/temporary-folder.js"
import { openFixture } from "../../src/testing/time-travel-fixture.js"
import { takePicture } from "../../src/testing/workspace-picture.js"
import { describeScene, makeStage, type Scene, type Stage } from "./crash-stage.js"
import type { FullDiskSaid } from "./programs/full-disk.js"
import type { Said } from "./programs/go-back.js"

let goBack: string
let fullDisk: string
let stage: Stage
let temporary: TemporaryFolder
beforeAll(async () => {
  goBack = await bundleProgram(join(import.meta.dirname, "programs/go-back.ts"))
  fullDisk = await bundleProgram(join(import.meta.dirname, "programs/full-disk.ts"))
})
beforeEach(async () => {
  temporary = createTemporaryFolder()
  stage = await makeStage()
})
afterEach(() => {
  stage.remove()
  temporary.remove()
})

async function look(): Promise<{ scene: Scene; findings: unknown[] }> {
  const travel = await openFixture({ root: stage.root })
  try {
    return { scene: await describeScene(travel), findings: await checkStore(travel) }
  } finally {
    await travel.close()
  }
}

const lastOf = (said: readonly unknown[]) => said.at(-1) as Said

describe("several processes", () => {
  it("that restore at once go one after the other or are refused, and leave one whole result", async () => {
    const alone = startProgram(goBack, [stage.root, "both", "silent"])
    expect(await alone.ended, alone.errors()).toMatchObject({ code: 0 })
    const { scene: after } = await look()
    for (let round = 0; round < 5; round++) {
      stage.reset()
      const programs = Array.from({ length: 3 }, () => startProgram(goBack, [stage.root, "both", "silent"]))
      for (const one of programs) expect(await one.ended, one.errors()).toMatchObject({ code: 0 })
      const ends = programs.map(({ said }) => lastOf(said))
      expect(ends.some((end) => "done" in end)).toBe(true)
      for (const end of ends) {
        if ("done" in end) continue
        expect(end).toMatchObject({ code: "SESSION_RUNNING" })
        expect((end as { error: string }).error).toMatch(/^Cannot restore checkpoint while a task is running\./)
      }
      const now = await look()
      expect(now.findings).toEqual([])
      expect(now.scene).toEqual(after)
    }
  })

  it("that rewind at once make a branch each or none, with their files", async () => {
    const programs = Array.from({ length: 3 }, () => startProgram(goBack, [stage.root, "rewind", "silent"]))
    for (const one of programs) expect(await one.ended, one.errors()).toMatchObject({ code: 0 })
    const done = programs.filter(({ said }) => "done" in lastOf(said)).length
    expect(done).toBeGreaterThan(0)
    const { scene, findings } = await look()
    expect(findings).toEqual([])
    expect(scene.sessions).toHaveLength(1 + done)
  })

  it("do not restore under a session that runs, and do when it has ended", async () => {
    const before = takePicture(stage.workspace, { withTimes: true })
    const running = startProgram(goBack, [stage.root, "run", "silent"])
    await running.heard((said: Said) => "armed" in said)
    for (const way of ["both", "rewind"]) {
      const refused = startProgram(goBack, [stage.root, way, "silent"])
      expect(await refused.ended, refused.errors()).toMatchObject({ code: 0 })
      expect(lastOf(refused.said)).toMatchObject({ code: "SESSION_RUNNING" })
    }
    expect(takePicture(stage.workspace, { withTimes: true })).toEqual(before)
    running.tell("end")
    expect(await running.ended, running.errors()).toMatchObject({ code: 0 })
    expect(lastOf(running.said)).toEqual({ done: "run" })
    const restored = startProgram(goBack, [stage.root, "both", "silent"])
    expect(await restored.ended, restored.errors()).toMatchObject({ code: 0 })
    expect(lastOf(restored.said)).toHaveProperty("done")
    expect((await look()).findings).toEqual([])
  })
})

describe("a disk without room", () => {
  it("gives an error and leaves everything as it was or to the next command, wherever on the way it runs full", async () => {
    const folder = temporary.file("disk")
    const { said, ended, errors } = startProgram(fullDisk, [folder], { under: withDisk(folder, "96m") })
    expect(await ended, errors()).toEqual({ code: 0, signal: null })
    const all = said as FullDiskSaid[]
    const refused = all.filter(({ heard }) => heard !== "done")
    expect(refused.length).toBeGreaterThan(5)
    expect(all.length - refused.length).toBeGreaterThan(3)
    // with no room for a row there may be none to write a file either
    const isOpen = ({ message }: FullDiskSaid) => message.includes("could not be taken back yet")
    expect(refused.filter(isOpen).length).toBeLessThan(3)
    for (const one of refused) {
      const then = isOpen(one)
        ? { outcomes: [expect.stringMatching(/finished|taken-back/)] }
        : { asBefore: [true, true] }
      expect(one, JSON.stringify(one)).toMatchObject({ heard: "UNAVAILABLE", ...then })
    }
    for (const one of all) expect(one, JSON.stringify(one)).toMatchObject({ findings: [], again: true })
  })
})

/** Runs a program that alone sees a small disk at the folder; it is gone with the program. */
function withDisk(folder: string, size: string): string[] {
  mkdirSync(folder)
  const user = process.getuid?.() === 0 ? [] : ["--map-root-user"]
  const script = `mount -t tmpfs -o size=${size} tmpfs "$0" && exec "$@"`
  return ["unshare", "--mount", ...user, "sh", "-c", script, folder]
}
