/** Hands `main` the real machine and turns its answer into the exit code. */
import { openMachine } from "./machine.js"
import { main } from "./main.js"

/** Returns whether there is nothing left to wait for: the command did all it should, and what it said has been written. */
export async function runMain(): Promise<boolean> {
  const machine = openMachine()
  try {
    const code = await main(process.argv.slice(2), machine)
    process.exitCode = code
    return code === 0 && machine.isWritten()
  } finally {
    machine.close()
  }
}
