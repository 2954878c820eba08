/** The story of the demo, step by step. */
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { openStore } from "@ku0/agent-runtime"
import { betterScript, brokenScript, firstScript } from "./program.js"
import type { Stage } from "./stage.js"

interface SessionFacts {
  readonly id: string
  readonly status: string
  readonly messageCount: number
}

interface CheckpointFacts {
  readonly number: number
  readonly trigger: string
}

interface Listing {
  readonly session: SessionFacts
  readonly checkpoints: readonly CheckpointFacts[]
}

export async function playDemo(stage: Stage): Promise<void> {
  const first = stage.writeScript("first", firstScript)
  const session = await workAndDie(stage, first)
  const good = recover(stage, session)
  const before = stage.picture()
  goWrong(stage, session)
  restore(stage, session, good, before)
  const second = branch(stage, session, good, before)
  compare(stage, session, second)
  prove(stage, session, second)
}

/** Returns the session's id. What the process said was kept is compared with what another process finds. */
async function workAndDie(stage: Stage, script: string): Promise<string> {
  stage.step("An agent works on a small program.", 'keepup run "add top(): the most frequent words" --script …')
  const args = ["run", "add top(): the most frequent words", "--script", script, "--approval", "auto", "--json"]
  const child = stage.start(args)
  const said: { seq: number; type: string; sessionId: string }[] = []
  let rest = ""
  child.stderr?.resume()
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => child.kill("SIGKILL"), 20_000)
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n")
      rest = lines.pop() as string // a line without its end was not said in full
      for (const line of lines) {
        const event = JSON.parse(line)
        if (event.seq !== undefined) said.push(event)
        if (event.type !== "tool:started" || event.data.name !== "run_command") continue
        const isRunning = setInterval(() => {
          if (!existsSync(join(stage.workspace, "..", "warm"))) return
          clearInterval(isRunning)
          child.kill("SIGKILL")
        }, 10)
      }
    })
    child.on("error", reject)
    child.on("close", () => {
      clearTimeout(late)
      resolve()
    })
  })
  stage.step("In the middle of its third turn, while a command runs, the process is killed.", `kill -9 ${child.pid}`)
  stage.check("it died by SIGKILL", child.signalCode === "SIGKILL", `${child.exitCode ?? child.signalCode}`)
  stage.check(`it had said that ${said.length} steps are kept`, said.length > 5)
  const id = said[0]?.sessionId as string
  await compareLog(stage, id, said)
  return id
}

async function compareLog(stage: Stage, id: string, said: readonly { seq: number; type: string }[]): Promise<void> {
  const store = await openStore(`sqlite:${join(stage.stateDirectory, "keepup.db")}`)
  try {
    const entries = await store.log.read(id as never, { limit: 1_000 })
    const found = new Map(entries.map(({ seq, type }) => [seq, type]))
    const lost = said.filter(({ seq, type }) => found.get(seq) !== type)
    const hasGap = entries.some(({ seq }, index) => seq !== (entries[0]?.seq as number) + index)
    stage.check("every one of them is in the log, without a gap", lost.length === 0 && !hasGap, JSON.stringify(lost))
  } finally {
    await store.close()
  }
}

/** Returns the number of the checkpoint at the end of the good work. */
function recover(stage: Stage, id: string): number {
  stage.step(
    "The next command finds the dead session and recovers it; the call that was cut off is in doubt.",
    "keepup session list",
  )
  const found = stage.keepup(["session", "list"])
  stage.show(`${found.stderr}${found.stdout}`)
  stage.check("it says so", /was interrupted.*1 tool call in doubt/.test(found.stderr), found.stderr)
  const { session } = stage.ask<{ session: SessionFacts }>(["session", "show", id])
  stage.check("the session waits, paused", session.status === "paused", session.status)

  stage.step("Nothing is repeated silently: without a decision it stops and asks.", "keepup resume")
  const refused = stage.keepup(["resume", id, "--approval", "auto"], 2)
  stage.show(refused.stderr.slice(refused.stderr.indexOf("error: ")))
  stage.check(
    "it names the call and the choices",
    /run_command[\s\S]*--in-doubt skip\|retry\|fail/.test(refused.stderr),
    refused.stderr,
  )

  stage.step("Running tests again does no harm, so: go on.", "keepup resume --in-doubt retry")
  const resumed = stage.keepup(["resume", id, "--in-doubt", "retry", "--approval", "auto"])
  rmSync(join(stage.workspace, "..", "warm")) // the command whose agent was killed still waits for that
  stage.show(resumed.stdout)
  stage.check(
    "the agent finished its task, and what was done before was not done again",
    /all tests pass/.test(resumed.stdout),
  )
  stage.check("the program's own tests pass", stage.testsPass())

  stage.step("Every step on the way is a place to go back to.", "keepup checkpoint list")
  stage.show(stage.keepup(["checkpoint", "list"]).stdout)
  const { checkpoints } = stage.ask<Listing>(["checkpoint", "list", "-S", id])
  return checkpoints.findLast(({ trigger }) => trigger === "run.ended")?.number as number
}

function goWrong(stage: Stage, id: string): void {
  stage.step(
    "Then it goes wrong: the program is broken, and files are deleted with a shell command.",
    'keepup run -S latest "make it faster"',
  )
  const script = stage.writeScript("broken", brokenScript)
  const ran = stage.keepup(["run", "-S", id, "make it faster", "--script", script, "--approval", "auto"])
  stage.show(
    `${ran.stderr
      .split("\n")
      .filter((line) => line.startsWith("-> "))
      .join("\n")}\n${ran.stdout}`,
  )
  stage.check(
    "files are gone",
    !existsSync(join(stage.workspace, "test.mjs")) && !existsSync(join(stage.workspace, "README.md")),
  )
  stage.check("the program does not work any more", !stage.testsPass())
}

function restore(stage: Stage, id: string, good: number, before: string): void {
  const broken = stage.picture()
  stage.step("What would going back do?", `keepup checkpoint restore ${good} --dry-run`)
  stage.show(stage.keepup(["checkpoint", "restore", String(good), "-S", id, "--dry-run"]).stdout)
  stage.check("a dry run changes nothing", stage.picture() === broken)

  const restoreArgs = ["checkpoint", "restore", String(good), "-S", id, "--yes"]
  stage.step("Go back.", `keepup checkpoint restore ${good}`)
  stage.show(stage.keepup(restoreArgs).stdout)
  stage.check("every file is as it was, byte for byte, also those a shell command deleted", stage.picture() === before)
  stage.check("the program's own tests pass", stage.testsPass())

  stage.step("A restore is never the last word: take it back.", "keepup checkpoint undo")
  stage.show(stage.keepup(["checkpoint", "undo"]).stdout)
  stage.check("everything is as it was before the restore, byte for byte", stage.picture() === broken)

  stage.step("And go back again.", `keepup checkpoint restore ${good}`)
  stage.keepup(restoreArgs)
  stage.check("every file is as it was, byte for byte", stage.picture() === before)
}

/** Returns the id of the second attempt. */
function branch(stage: Stage, id: string, good: number, before: string): string {
  stage.step("A second attempt, in a session of its own; the first one stays.", `keepup rewind ${good}`)
  const original = stage.ask<Listing>(["checkpoint", "list", "-S", id])
  const { session } = stage.ask<{ session: SessionFacts }>(["rewind", String(good), "-S", id, "--yes"])
  stage.check("the files are those of the checkpoint", stage.picture() === before)
  const after = stage.ask<Listing>(["checkpoint", "list", "-S", id])
  stage.check("the original session is untouched", after.session.messageCount === original.session.messageCount)

  stage.step("This time it goes well.", 'keepup run -S latest "make it faster, measured"')
  const script = stage.writeScript("better", betterScript)
  const ran = stage.keepup([
    "run",
    "-S",
    session.id,
    "make it faster, measured",
    "--script",
    script,
    "--approval",
    "auto",
  ])
  stage.show(ran.stdout)
  stage.check("the program's own tests pass", stage.testsPass())
  return session.id
}

function compare(stage: Stage, first: string, second: string): void {
  stage.step("Both attempts, and where they part.", "keepup session list --tree")
  const tree = stage.keepup(["session", "list", "--tree"]).stdout
  stage.show(tree)
  stage.check("the second one hangs under the first", /^`-- from #\d+/m.test(tree), tree)

  const [a, b] = [first.slice(-8), second.slice(-8)]
  const broken = stage
    .ask<Listing>(["checkpoint", "list", "-S", first])
    .checkpoints.findLast(({ trigger }) => trigger === "before-restore")?.number
  stage.step(
    "What differs between the bad attempt and the good one?",
    `keepup checkpoint diff ${a}:${broken} ${b}:latest --stat`,
  )
  stage.show(stage.keepup(["checkpoint", "diff", `${a}:${broken}`, `${b}:latest`, "--stat"]).stdout)
  const { files } = stage.ask<{ files: { path: string; status: string }[] }>([
    "checkpoint",
    "diff",
    `${a}:${broken}`,
    `${b}:latest`,
  ])
  const status = (path: string) => files.find((file) => file.path === path)?.status
  stage.check(
    "what was deleted is there again, and top.mjs differs",
    status("test.mjs") === "added" && status("src/top.mjs") === "modified",
    JSON.stringify(files),
  )
}

function prove(stage: Stage, first: string, second: string): void {
  stage.step("Watch the second attempt again; no model is called, nothing is executed.", "keepup checkpoint replay 1")
  const shown = stage.keepup(["checkpoint", "replay", "1", "-S", second]).stdout
  stage.show(
    shown
      .split("\n")
      .filter((line) => /user|assistant|calls/.test(line))
      .join("\n"),
  )
  stage.check("it is the conversation as it was", /Measured first[\s\S]*Faster for the common case/.test(shown), shown)

  stage.step(
    "And prove that the recorded steps lead to the recorded state.",
    "keepup checkpoint replay 1 --mode verify",
  )
  stage.show(stage.keepup(["checkpoint", "replay", "1", "-S", second, "--mode", "verify"]).stdout)
  const all = stage.ask<{ verified: boolean }>([
    "checkpoint",
    "replay",
    "1",
    "-S",
    first,
    "--to",
    "2",
    "--mode",
    "verify",
  ])
  stage.check("both attempts are verified", all.verified)

  stage.step("Is everything that was kept sound?", "keepup doctor")
  const { healthy, findings } = stage.ask<{ healthy: boolean; findings: unknown[] }>(["doctor"])
  stage.check("all of it can be brought back", healthy && findings.length === 0, JSON.stringify(findings))
}
