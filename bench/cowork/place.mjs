/** A store with sessions to look at, and a server on it that can be killed and started again. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { cleanEnvironment } from "../harness/process.mjs"

const sessionCount = 200
const entryCount = 2_000

export async function fillPlace(openRuntime, folder) {
  const [stateDirectory, workspacePath] = [join(folder, "state"), join(folder, "workspace")]
  for (const path of [stateDirectory, workspacePath]) mkdirSync(path, { recursive: true, mode: 0o700 })
  for (let i = 0; i < 200; i++) writeFileSync(join(workspacePath, `${i}.txt`), `${i}\n`.repeat(50))
  const runtime = await openRuntime({ stateDirectory, workspacePath, environment: cleanEnvironment() })
  const sessions = []
  for (let i = 0; i < sessionCount; i++) {
    sessions.push(await runtime.store.sessions.create({ workspacePath, name: `session ${i}` }))
  }
  const followed = sessions.at(-1)
  await runtime.store.log.append(
    followed.id,
    Array.from({ length: entryCount }, (_, i) => say(`message ${i} `.repeat(20))),
  )
  for (let i = 0; i < 5; i++) {
    writeFileSync(join(workspacePath, "0.txt"), `change ${i}\n`)
    await runtime.manager.take({ sessionId: followed.id, trigger: "manual" })
  }
  return { stateDirectory, workspacePath, runtime, followed, token: () => read(join(stateDirectory, "token")) }
}

export function say(content) {
  return { type: "message:added", data: { message: { role: "user", content } } }
}

/** @returns the server's process, its port, what it uses, and a way to kill it */
export async function startServer(program, { stateDirectory, workspacePath }, port = 0) {
  const child = spawn(
    process.execPath,
    ["--no-warnings", "--expose-gc", program, stateDirectory, workspacePath, String(port)],
    {
      env: cleanEnvironment(),
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    },
  )
  const died = once(child, "exit").then(([code]) => {
    throw new Error(`The server ended with ${code} before it listened.`)
  })
  const [line] = await Promise.race([once(child.stdout, "data"), died])
  died.catch(() => {}) // it is killed later, on purpose
  return {
    port: JSON.parse(String(line)).port,
    /** What is used after a full collection: what V8 has not yet given back is no growth. */
    async usedMb() {
      child.send("used")
      const [bytes] = await once(child, "message")
      return bytes / (1 << 20)
    },
    /** Processor time it took so far, user and system. */
    cpuMs() {
      const stat = read(`/proc/${child.pid}/stat`)
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return (Number(fields[11]) + Number(fields[12])) * 10
    },
    async kill() {
      const ended = once(child, "exit")
      child.kill("SIGKILL")
      await ended
    },
  }
}

const read = (path) => readFileSync(path, "utf8").trim()
