/** Drives the LangGraph process from outside, so that its garbage does not slow anybody else. */
import { fork } from "node:child_process"
import { join } from "node:path"
import { benchFolder } from "../harness/build.mjs"
import { cleanEnvironment } from "../harness/process.mjs"

export function openLangGraph(file) {
  const child = fork(join(benchFolder, "store", "langgraph-child.mjs"), [file], { env: cleanEnvironment() })
  return {
    /** The times of the turns `from` up to, not including, `to`. */
    turns: (from, to) =>
      new Promise((resolve, reject) => {
        const died = (code) => reject(new Error(`LangGraph ended with ${code}`))
        child.once("exit", died)
        child.once("message", ({ times }) => {
          child.off("exit", died)
          resolve(times)
        })
        child.send({ from, to })
      }),
    close: () =>
      new Promise((resolve) => {
        child.once("exit", resolve)
        child.disconnect()
      }),
  }
}
