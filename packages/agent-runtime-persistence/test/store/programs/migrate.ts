/** Migrates a file when told. Arguments: path, how many test steps, `never` or the number of the step to die at. */
import { once } from "node:events"
import { migrateSqlite } from "../../../src/store/migrate.js"
import { openSqliteDriver } from "../../../src/store/sqlite-driver.js"
import { stepsAfter } from "../test-migrations.js"
import { say } from "./said.js"

const [path = "", count = "0", dieAt = "never", wait = ""] = process.argv.slice(2)
if (wait === "wait") {
  say({ ready: true })
  await once(process.stdin, "data")
  process.stdin.destroy()
}
let reached = 0
const driver = openSqliteDriver({
  path,
  busyTimeoutMs: 10_000,
  onStep(step) {
    if (String(++reached) === dieAt) process.kill(process.pid, "SIGKILL")
    say({ step })
  },
})
say({ version: await migrateSqlite(driver, { steps: stepsAfter(Number(count)) }) })
await driver.close()
