/** Laws 1, 8, 9 and 11 with real deaths: whole runs of the built-in agent on a real store, killed anywhere, resumed. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { generateBatch } from "./crash/batch.js"
import { type BatchReport, checkBatch } from "./crash/check-batch.js"
import { bundleProgram, type Life, startLife } from "./crash/start-batch.js"

/** Runs that must have been killed in the middle and come to their end. */
const wanted = Number(process.env["KEEPUP_TEST_CRASH_RUNS"] ?? 500)
const batchSize = 10
const firstSeed = 20_260
const root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-agent-crash-")))
let bundle = ""

beforeAll(async () => {
  bundle = await bundleProgram("run-batch")
})
afterAll(() => {
  rmSync(root, { recursive: true, maxRetries: 10 })
  rmSync(bundle, { force: true })
})

test("loses nothing, repeats nothing and resumes every one of 500 killed runs", async () => {
  const begin = performance.now()
  const reports: BatchReport[] = []
  let seed = firstSeed
  const work = async () => {
    while (total(reports, "resumed") < wanted) {
      const report = await runBatch(seed++)
      reports.push(report)
      if (report.problems.length > 0) return
    }
  }
  const ends = await Promise.allSettled([work(), work()]) // neither leaves while the other's processes live
  for (const end of ends) if (end.status === "rejected") throw end.reason
  const seconds = ((performance.now() - begin) / 1_000).toFixed(0)
  const lines = [
    `${total(reports, "resumed")} runs killed and resumed to their end (${total(reports, "interruptions")} interruptions)`,
    `${total(reports, "acknowledged")} acknowledged entries, ${total(reports, "lost")} lost`,
    `${total(reports, "completedEffects")} completed effects, ${total(reports, "repeatedEffects")} repeated`,
    `${total(reports, "inDoubt")} calls in doubt, ${total(reports, "folds")} folds equal in both processes`,
    `seeds ${firstSeed} to ${seed - 1}, ${seconds} s`,
  ]
  process.stdout.write(`${lines.map((line) => `  ${line}`).join("\n")}\n`)
  expect(reports.flatMap(({ problems }) => problems)).toEqual([])
  expect(total(reports, "lost") + total(reports, "repeatedEffects")).toBe(0)
  expect(total(reports, "resumed")).toBeGreaterThanOrEqual(wanted)
}, 1_800_000)

/** Lives and deaths of one batch, then one life to the end of every program in it. */
async function runBatch(seed: number): Promise<BatchReport> {
  const batch = generateBatch(seed, batchSize)
  const folder = join(root, `batch-${seed}`)
  const lives: Life[] = []
  mkdirWith(folder, JSON.stringify(batch))
  for (const death of batch.deaths) lives.push(await startLife(bundle, folder, death))
  lives.push(await startLife(bundle, folder, undefined))
  const report = await checkBatch(folder, batch, lives)
  if (report.problems.length === 0) rmSync(folder, { recursive: true, maxRetries: 10 })
  return { ...report, problems: report.problems.map((problem) => `seed ${seed}: ${problem}`) }
}

function mkdirWith(folder: string, batch: string): void {
  mkdirSync(folder)
  writeFileSync(join(folder, "batch.json"), batch)
}

function total(reports: readonly BatchReport[], key: Exclude<keyof BatchReport, "problems">): number {
  return reports.reduce((sum, report) => sum + report[key], 0)
}
