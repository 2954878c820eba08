/** `checkpoint replay --mode verify --run`: the recorded calls once more, in a copy of the files, and what differs. */
import { type Checkpoint, replayVerify, type VerifiedReplay } from "@ku0/agent-runtime"
import type { Context } from "../../context.js"
import { cut, oneLine, plural } from "../../output/text.js"

export type RunChoice = "tools" | "commands"

export async function replayTools(
  context: Context,
  from: Checkpoint,
  to: Checkpoint | undefined,
  choice: RunChoice,
): Promise<VerifiedReplay> {
  return await replayVerify(await context.openRuntime(), {
    from,
    ...(to && { to }),
    ...(choice === "commands" && { approve: () => true }),
    signal: context.signal,
  })
}

export function toolsToJson({ isFaithful, calls, differences, skipped, files, workspaceChanges }: VerifiedReplay) {
  return { isFaithful, calls, differences, skipped, files, workspaceChanges }
}

export function renderTools({ calls, differences, skipped, files, workspaceChanges, to }: VerifiedReplay): string[] {
  const changes = [
    ...files.changed.map((path) => `  differs  ${oneLine(path)}`),
    ...files.added.map((path) => `  only now ${oneLine(path)}`),
    ...files.missing.map((path) => `  missing  ${oneLine(path)}`),
  ]
  const end = to === undefined ? "No later checkpoint holds files to compare with." : ""
  return [
    `${plural(calls, "call")} ran again in a copy: ${plural(differences.length, "result")} and ${plural(changes.length, "file")} differ.`,
    ...differences.flatMap(({ name, expected, got }) => [
      `  ${name}`,
      `    recorded ${cut(oneLine(expected), 100)}`,
      `    now      ${cut(oneLine(got), 100)}`,
    ]),
    ...changes,
    ...skipped.map(({ name, reason }) => `Not run: a call of ${name} ${reason}.`),
    ...workspaceChanges.map((path) => `Changed in the workspace meanwhile: ${oneLine(path)}`),
    ...(end === "" ? [] : [end]),
  ]
}
