/** Appends numbered messages to a session until it is killed; says each number after its append has returned. */
import { writeSync } from "node:fs"

const [library, url, sessionId, first] = process.argv.slice(2)
const { openStore } = await import(library)
const store = await openStore(url)
for (let number = Number(first); ; number++) {
  const message = { role: "user", content: `message ${number}` }
  await store.log.append(sessionId, [{ type: "message:added", data: { message } }])
  writeSync(1, `${number}\n`)
}
