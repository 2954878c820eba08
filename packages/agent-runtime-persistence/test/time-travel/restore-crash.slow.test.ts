/** A process that goes back is killed at every step there is and at random instants; the next one finds all or nothing. */
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { checkStore } from "../../src/recovery/check-store.js"
import type { RecoverResult } from "../../src/recovery/recover-session.js"
import { recoverAll } from "../../src/recovery/recover-session.js"
import { bundleProgram, startProgram } from "../../src/testing/start-program.js"
import { openFixture, type TimeTravelFixture } from "../../src/testing/time-travel-fixture.js"
import { takePicture } from "../../src/testing/workspace-picture.js"
import { findLastRestore } from "../../src/time-travel/restore-records.js"
import { undoRestore } from "../../src/time-travel/undo-restore.js"
import { describeScene, makeStage, type Scene, type Stage } from "./crash-stage.js"
import type { Said, Way } from "./programs/go-back.js"

vi.setConfig({ testTimeout: 1_800_000 }) // hundreds of processes, on a machine that may have other work
const lanes = 2
let program: string
let stages: Stage[]
let kills = 0

beforeAll(async () => {
  program = await bundleProgram(join(import.meta.dirname, "programs/go-back.ts"))
  stages = await Promise.all(Array.from({ length: lanes }, makeStage))
})
afterAll(() => {
  for (const stage of stages) stage.remove()
  process.stdout.write(`killed ${kills} times\n`)
})

/** How a way goes when nobody is killed. */
interface Course {
  readonly before: Scene
  readonly after: Scene
  readonly steps: readonly string[]
  readonly ms: number
}

describe.each(["files", "conversation", "both", "paths", "both-paths", "rewind"] as const)("%s", (way) => {
  it("is all or nothing when killed at every step", async () => {
    await dieAtEveryStep(way, await goOnce(way))
  })
})

describe("undo", () => {
  it("is all or nothing when killed at every step", async () => {
    for (const stage of stages) await prepare(stage, "both")
    await dieAtEveryStep("undo", await goOnce("undo"))
    for (const stage of stages) stage.remove()
    stages = await Promise.all(Array.from({ length: lanes }, makeStage))
  })
})

describe.each(["restore:noted", "restore:rename", "restore:renaming"])("recovery after %s", (where) => {
  it("killed at every step of its own is finished by the next one", async () => {
    const course = await goOnce("both")
    const dieAt = String(course.steps.indexOf(where) + 1)
    await dieAtEveryStep("recover", course, where, (stage) => die(stage, "both", dieAt))
  })
})

describe("at random instants", () => {
  it("going back is all or nothing, again and again", async () => {
    const courses = new Map<Way, Course>()
    for (const way of ["files", "both", "both-paths", "rewind"] as const) courses.set(way, await goOnce(way))
    const ways = [...courses.keys()]
    await inLanes(Array.from({ length: 120 }, (_, i) => i).values(), async (stage, index) => {
      const way = ways[index % ways.length] as Way
      const course = courses.get(way) as Course
      stage.reset()
      const ms = Math.random() * course.ms * 1.1
      const running = startProgram(program, [stage.root, way, "silent"])
      await running.heard((said: Said) => "armed" in said)
      setTimeout(() => running.signal("SIGKILL"), ms)
      const { signal } = await running.ended
      if (signal === "SIGKILL") kills++
      await named(`${way}, ${ms.toFixed(1)} ms`, () => check(stage, course))
    })
  })
})

async function prepare(stage: Stage, way: Way): Promise<void> {
  const done = startProgram(program, [stage.root, way, "silent"])
  expect(await done.ended, done.errors()).toEqual({ code: 0, signal: null })
  stage.keep()
}

/** Goes the way once, undisturbed, and notes how it was before and after and every step between. */
async function goOnce(way: Way): Promise<Course> {
  const [stage] = stages as [Stage]
  stage.reset()
  const before = await lookAt(stage)
  const running = startProgram(program, [stage.root, way, "never"])
  await running.heard((said: Said) => "armed" in said)
  const start = performance.now()
  expect(await running.ended, running.errors()).toEqual({ code: 0, signal: null })
  const ms = performance.now() - start
  const said = running.said as Said[]
  expect(said.at(-1), JSON.stringify(said.at(-1))).toHaveProperty("done")
  const after = await lookAt(stage)
  expect(after).not.toEqual(before)
  return { before, after, steps: stepsOf(said), ms }
}

function stepsOf(said: readonly Said[]): string[] {
  return said.flatMap((line) => ("step" in line ? [line.step] : []))
}

async function lookAt(stage: Stage): Promise<Scene> {
  const travel = await openFixture({ root: stage.root })
  try {
    return await describeScene(travel)
  } finally {
    await travel.close()
  }
}

/**
 * Step after step, until it comes to its end before the next one. How many there are is not known before: how far a
 * killed process came decides what is left to do, and a slow one renews its lease.
 */
async function dieAtEveryStep(
  way: Way,
  course: Course,
  what: string = way,
  before: (stage: Stage) => Promise<void> = async () => undefined,
): Promise<void> {
  let isOver = false
  const numbers = (function* () {
    for (let number = 1; !isOver; number++) yield number
  })()
  await inLanes(numbers, async (stage, number) => {
    stage.reset()
    await before(stage)
    await named(`${what}, ${way} killed at step ${number}`, async () => {
      const wasKilled = await dieOrEnd(stage, way, String(number))
      if (!wasKilled) expect(number).toBeGreaterThan(8)
      isOver ||= !wasKilled
      await check(stage, course)
    })
  })
}

async function die(stage: Stage, way: Way, dieAt: string): Promise<void> {
  expect(await dieOrEnd(stage, way, dieAt)).toBe(true)
}

/** True if it was killed, false if it had no such step and came to its end. */
async function dieOrEnd(stage: Stage, way: Way, dieAt: string): Promise<boolean> {
  const running = startProgram(program, [stage.root, way, dieAt])
  const { code, signal } = await running.ended
  if (signal === "SIGKILL") kills++
  else
    expect({ code, last: running.said.at(-1) }, running.errors()).toEqual({
      code: 0,
      last: { done: expect.anything() },
    })
  return signal === "SIGKILL"
}

/** What the next start finds: one of two scenes, whole, and as recovery says; and the way back from there. */
async function check(stage: Stage, course: Course): Promise<void> {
  const untouched = pickSame(stage, course)
  const travel = await openFixture({ root: stage.root })
  try {
    const recovered = await recoverAll(travel)
    expect(await recoverAll(travel)).toEqual({ restores: [], sessions: [], branches: [], imports: [] })
    const now = await describeScene(travel)
    const isAfter = JSON.stringify(now) === JSON.stringify(course.after)
    if (!isAfter) expect(now).toEqual(course.before)
    expectSays(recovered, isAfter)
    expect(pickSame(stage, course)).toEqual(untouched)
    await expectAtRest(travel)
    expect(await checkStore(travel)).toEqual([])
    await expectWayBack(travel, course, isAfter)
    expect(pickSame(stage, course)).toEqual(untouched)
  } finally {
    await travel.close()
  }
}

function expectSays({ restores }: RecoverResult, isAfter: boolean): void {
  for (const { outcome } of restores) expect(outcome).toBe(isAfter ? "finished" : "taken-back")
}

/** No restore is open, nothing of ours lies in the workspace, and nobody seems to hold anything. */
async function expectAtRest(travel: TimeTravelFixture): Promise<void> {
  const { store, workspace } = travel
  expect(
    Object.keys(takePicture(workspace, { without: [".git"] })).filter((path) => path.startsWith(".keepup")),
  ).toEqual([])
  expect((await travel.snapshots(workspace)).listUnfinishedRestores()).toEqual([])
  expect(await store.context.driver.all("SELECT id FROM restores WHERE status = 'started'")).toEqual([])
  for (const { id, phase } of await store.sessions.list()) {
    expect(["idle", "paused"]).toContain(phase)
    expect(await store.leases.find(`session:${id}`)).toBeUndefined()
  }
}

/** If it was done it can be undone, to the last byte; if not, it can be done now. */
async function expectWayBack(travel: TimeTravelFixture, course: Course, isAfter: boolean): Promise<void> {
  if (!isAfter) return
  const { driver } = travel.store.context
  const last = await driver.get("SELECT id FROM restores WHERE status = 'applied' ORDER BY ordinal DESC LIMIT 1")
  expect(last).toBeDefined()
  await undoRestore(travel, { restoreId: last?.["id"] as string })
  const back = await describeScene(travel)
  expect(back.files).toEqual(course.before.files)
  expect(back.sessions[0]).toEqual(course.before.sessions[0])
  expect(await findLastRestore(driver, travel.workspace)).not.toMatchObject({ id: last?.["id"] })
}

/** Files that are the same before and after, and the user's repository: with their times, they must not be touched. */
function pickSame(stage: Stage, { before, after }: Course): Record<string, string> {
  const now = takePicture(stage.workspace, { withTimes: true })
  const isSame = (path: string) =>
    path === ".git" || path.startsWith(".git/") || (path in before.files && before.files[path] === after.files[path])
  return Object.fromEntries(Object.entries(now).filter(([path, what]) => isSame(path) && !what.startsWith("folder")))
}

async function named(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error })
  }
}

async function inLanes(items: IterableIterator<number>, work: (stage: Stage, item: number) => Promise<void>) {
  await Promise.all(
    stages.map(async (stage) => {
      for (let next = items.next(); !next.done; next = items.next()) await work(stage, next.value)
    }),
  )
}
