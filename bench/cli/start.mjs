/** `keepup --version` and `keepup checkpoint list` with 50 rows against `node -e 0`. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { table } from "../harness/report.mjs"
import { againstNode, takeTurns } from "./measure.mjs"
import { environment, inShell, keepup, node } from "./place.mjs"

const checkpoints = 50

export async function start(context) {
  const folder = context.scratch.folder("cli-start")
  const workspace = join(folder, "workspace")
  mkdirSync(workspace)
  const env = environment(folder)
  for (let i = 1; i <= checkpoints; i++) {
    writeFileSync(join(workspace, "a.txt"), `${i}\n`)
    inShell(`${keepup} checkpoint create --quiet --name "step ${i}"`, workspace, env)
  }
  const listed = JSON.parse(inShell(`${keepup} checkpoint list --json`, workspace, env)).checkpoints.length
  if (listed !== checkpoints) throw new Error(`${listed} checkpoints are listed, expected ${checkpoints}`)
  const rows = await takeTurns(
    {
      "node -e 0": { command: `${node} -e 0`, cwd: workspace },
      "keepup --version": { command: `${keepup} --version`, cwd: workspace },
      "keepup checkpoint list": { command: `${keepup} checkpoint list`, cwd: workspace },
    },
    { rounds: context.quick ? 15 : 60, env },
  )
  context.print(
    `Command line: a start, ${checkpoints} checkpoints listed, without NODE_EXTRA_CA_CERTS`,
    table(...againstNode(rows)),
  )
  return rows
}
