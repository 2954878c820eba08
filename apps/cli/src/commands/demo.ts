/** `demo`: the main job on a throw-away workspace, offline. Every step checks itself. */
import { openSnapshotStore } from "@ku0/agent-runtime"
import type { Command } from "../command.js"
import type { Context } from "../context.js"
import { playDemo } from "../demo/play-demo.js"
import { program } from "../demo/program.js"
import { openStage, type Stage } from "../demo/stage.js"
import { shellWord } from "../output/text.js"
import { length } from "../output/time.js"

export const demoCommand: Command = {
  summary: "see the main job in half a minute, on a throw-away workspace",
  description: [
    "A scripted agent works on a small real program. It is killed with SIGKILL in the middle of a turn and recovered; it breaks " +
      "the program and deletes files with a shell command; the checkpoint is restored, the restore undone, and done again; a " +
      "second attempt branches off; both are compared, replayed and verified. Needs no network and no key. Ends with an error if " +
      "anything is not as it says.",
  ],
  options: [{ flags: "--keep", summary: "leave the workspace to play with" }],
  examples: [
    { command: "keepup demo", does: "What keepup does" },
    { command: "keepup demo --keep", does: "And then try it yourself" },
  ],
  exits: ["UNAVAILABLE"],
  async run(context, input) {
    const started = performance.now()
    const stage = openStage(context, program)
    let isKept = input.flag("keep")
    await requireSnapshots(context, stage)
    try {
      await playDemo(stage)
      const took = performance.now() - started
      const kept = isKept ? { workspace: stage.workspace, stateDirectory: stage.stateDirectory } : {}
      context.answer({ steps: stage.steps, milliseconds: Math.round(took), ...kept }, () =>
        farewell(context, stage.workspace, stage.stateDirectory, took, isKept),
      )
    } catch (error) {
      isKept = true
      context.warn(`The workspace is left in ${stage.workspace}, the store in ${stage.stateDirectory}.`)
      throw error
    } finally {
      if (!isKept) stage.remove()
    }
  },
}

/** Without git there is nothing to show: that is said at once, and not as if the demo had gone wrong. */
async function requireSnapshots({ machine }: Context, stage: Stage): Promise<void> {
  const { workspace, stateDirectory, environment } = stage
  try {
    const options = { workspacePath: workspace, stateDirectory, environment, clock: machine.clock }
    await (await openSnapshotStore(options)).close()
  } catch (error) {
    stage.remove()
    throw error
  }
}

function farewell({ styles }: Context, workspace: string, state: string, took: number, isKept: boolean): string {
  const lines = ["", styles.bold(`Everything was as it says, in ${length(took)}.`)]
  if (isKept) {
    lines.push(
      "Play with it:",
      `  cd ${shellWord(workspace)}`,
      `  export KEEPUP_STATE_DIR=${shellWord(state)}`,
      "  keepup session list --tree",
    )
  } else lines.push("Nothing is left behind; `keepup demo --keep` leaves the workspace to play with.")
  return lines.join("\n")
}
