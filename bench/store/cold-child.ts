/** A cold process: opens the store, appends one entry, ends. The whole program that is timed. */
import { openStore } from "../../packages/agent-runtime-persistence/src/index.ts"

async function main() {
  const [, , file, sessionId] = process.argv
  const store = await openStore(`sqlite:${file}`)
  await store.log.append(sessionId as never, [
    { type: "message:added", data: { message: { role: "user", content: "One entry from a cold process." } } },
  ])
  await store.close()
}

main().catch((error) => {
  process.stderr.write(`${error?.stack ?? error}\n`)
  process.exitCode = 1
})
