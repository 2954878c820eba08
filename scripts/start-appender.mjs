/**
 * Takes the session's lease and appends numbered messages until it is killed; says each number after its append has
 * returned. The lease of a killed process must not stop the next one.
 */
import { writeSync } from "node:fs"

const [library, url, sessionId, first] = process.argv.slice(2)
const { openStore } = await import(library)
const store = await openStore(url)
const lease = await store.leases.take(`session:${sessionId}`, { purpose: "run" })
for (let number = Number(first); ; number++) {
  const message = { role: "user", content: `message ${number}` }
  await store.log.append(sessionId, [{ type: "message:added", data: { message } }], { lease })
  writeSync(1, `${number}\n`)
}
