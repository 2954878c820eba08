/** Hands `main` the real machine and turns its answer into the exit code. */
import { openMachine } from "./machine.js"
import { main } from "./main.js"

export async function runMain(): Promise<void> {
  const machine = openMachine()
  try {
    process.exitCode = await main(process.argv.slice(2), machine)
  } finally {
    machine.close()
  }
}
