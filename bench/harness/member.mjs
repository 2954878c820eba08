/**
 * Somebody who takes part, in a process of its own. Starting a program takes longer the more memory the process holds
 * that starts it, so nobody may pay for what the bench or another one holds.
 */
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { cleanEnvironment } from "./process.mjs"

const child = fileURLToPath(new URL("./member-child.mjs", import.meta.url))

/**
 * Calls the module's function there with these arguments. What it gives can be used here, every call a promise; null if it
 * gives none. `took` tells how long the last call took there, without the messages between the processes.
 */
export async function hire(module, name, ...args) {
  const process = fork(child, { env: cleanEnvironment(), execArgv: [], serialization: "advanced" })
  const waiting = []
  let took
  process.on("message", ({ error, value, ms }) => {
    const { resolve, reject } = waiting.shift()
    took = ms
    if (error) reject(new Error(`${name}: ${error}`))
    else resolve(value)
  })
  process.on("exit", (code) => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`${name} ended with ${code}`))
  })
  const ask = (request) =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      process.send(request, (error) => error && reject(error))
    })
  const methods = await ask({ module, name, args })
  if (methods === null) {
    process.disconnect()
    return null
  }
  const member = Object.fromEntries(methods.map((method) => [method, (...more) => ask({ method, args: more })]))
  return {
    ...member,
    took: () => took,
    async close() {
      await member.close?.()
      process.disconnect()
    },
  }
}
