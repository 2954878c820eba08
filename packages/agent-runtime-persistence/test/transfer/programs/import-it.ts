/**
 * Imports a file into the state of a fixture. Arguments: the folder of the fixture, the file, and at which of its steps
 * to die. Says each step, and the id of the session when it is there.
 */
import { writeSync } from "node:fs"
import { join } from "node:path"
import { openFixture } from "../../../src/testing/time-travel-fixture.js"
import { importSession } from "../../../src/transfer/import-session.js"

const [root = "", path = "", dieAt = "0"] = process.argv.slice(2)
let steps = 0
let isOpen = false
const travel = await openFixture({
  root,
  onStep(step) {
    if (isOpen && ++steps === Number(dieAt)) process.kill(process.pid, "SIGKILL")
    if (isOpen) say({ step })
  },
})
isOpen = true
const { workspace: workspacePath, stateDirectory } = travel
const { session } = await importSession(travel, { path, workspacePath, workFolder: join(stateDirectory, "work") })
isOpen = false
say({ sessionId: session.id })
await travel.close()

function say(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}
