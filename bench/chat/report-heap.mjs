/** Loaded into the chat before it: at SIGUSR2 it collects all garbage and appends the bytes that are still used to a file. */
import { appendFileSync } from "node:fs"
import { isMainThread } from "node:worker_threads"

const file = process.env.KEEPUP_BENCH_HEAP

if (isMainThread) {
  process.on("SIGUSR2", () => {
    globalThis.gc()
    globalThis.gc()
    appendFileSync(file, `${JSON.stringify(process.memoryUsage())}\n`)
  })
}
