/** What a hook of another agent pays: an entry appended, durable and answered, against `node -e 0`. */
import { mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { flush } from "../harness/disk.mjs"
import { table } from "../harness/report.mjs"
import { againstNode, takeTurns } from "./measure.mjs"
import { environment, inShell, keepup, node } from "./place.mjs"

const child = JSON.stringify(fileURLToPath(new URL("hook-child.cjs", import.meta.url)))

export async function hook(context) {
  const folder = realpathSync(context.scratch.folder("cli-hook"))
  const workspace = join(folder, "workspace")
  mkdirSync(workspace)
  const env = environment(folder)
  inShell(`${keepup} session new hooked --quiet`, workspace, env)
  const input = join(folder, "input.json")
  const happened = { cwd: workspace, event: "PostToolUse", tool: "Write", content: "x".repeat(2_000) }
  writeFileSync(input, JSON.stringify(happened))
  const rounds = context.quick ? 15 : 60
  const append = `${node} ${child} < ${JSON.stringify(input)}`
  const rows = await takeTurns(
    {
      "node -e 0": { command: `${node} -e 0`, cwd: workspace },
      "append and answer": { command: append, cwd: workspace, before: () => flush(workspace) },
    },
    { rounds, env },
  )
  // rounds before the first one that counts are turns too; this one is the last
  const { seq } = JSON.parse(inShell(append, workspace, env))
  if (seq !== rounds + 4) throw new Error(`The last entry is ${seq}, expected ${rounds + 4}`)
  context.print("Command line: what a hook pays to append an entry of 2 KB and answer", table(...againstNode(rows)))
  return rows
}
