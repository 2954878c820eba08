/** From the start of the program to its prompt on the screen, against `node -e 0` in the same terminal. */
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { cleanEnvironment } from "../harness/process.mjs"
import { table } from "../harness/report.mjs"
import { interleave } from "../harness/rounds.mjs"
import { openTerminal } from "./terminal.mjs"

export async function first(context) {
  const folder = context.scratch.folder("chat-first")
  mkdirSync(join(folder, "workspace"))
  mkdirSync(join(folder, "home"))
  const script = join(folder, "answers.jsonl")
  writeFileSync(script, '{"content":"Hi."}\n')
  let open
  const { rows } = await interleave(
    {
      "node -e 0": () => spawnSync(process.execPath, ["-e", "0"], { env: cleanEnvironment() }),
      "first frame": async () => {
        open = openTerminal(folder, ["chat", "--script", script])
        await open.sees("Ask something")
      },
    },
    {
      rounds: context.quick ? 10 : 40,
      after: async (name) => {
        if (name === "first frame") await open.end()
      },
    },
  )
  const base = rows["node -e 0"]
  const body = Object.entries(rows).map(([name, { median, min }]) => [
    name,
    median,
    min,
    median / base.median,
    min / base.min,
  ])
  context.print("Chat: the first frame", table(["what", "med ms", "min ms", "x (med)", "x (min)"], body))
  return rows
}
