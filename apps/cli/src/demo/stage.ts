/** Where the demo plays: a throw-away workspace, the real program as child processes, and checks that stop at a lie. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { KeepupError } from "@ku0/agent-runtime"
import type { Context } from "../context.js"
import { wrap } from "../output/text.js"

export interface ChildResult {
  readonly stdout: string
  readonly stderr: string
  readonly status: number | null
}

export interface Stage {
  readonly workspace: string
  readonly stateDirectory: string
  readonly environment: NodeJS.ProcessEnv
  /** Says what happens, with the command a person would type. */
  step(title: string, command?: string): void
  /** Indents what a person should see. */
  show(text: string): void
  /** Stops the demo if what it says is not so. */
  check(what: string, isSo: boolean, details?: string): void
  /** Runs keepup to its end; anything but the expected exit code stops the demo. */
  keepup(args: readonly string[], expected?: number): ChildResult
  /** The same with `--json`, parsed. */
  ask<Answer>(args: readonly string[]): Answer
  /** Starts keepup and lets the caller end it. */
  start(args: readonly string[]): ChildProcess
  writeScript(name: string, answers: readonly unknown[]): string
  /** Every file of the workspace with the hash of its content. */
  picture(): string
  /** Whether the program's own tests pass. */
  testsPass(): boolean
  readonly steps: readonly string[]
  remove(): void
}

const indent = "      "

function makeRoot(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), "keepup-demo-")))
  } catch (cause) {
    throw new KeepupError("UNAVAILABLE", `No folder can be made in ${tmpdir()} (${(cause as Error).message}).`, {
      cause,
      hint: "Name a folder for temporary files that can be written, with TMPDIR.",
    })
  }
}

export function openStage(context: Context, files: Readonly<Record<string, string>>): Stage {
  const root = makeRoot()
  const workspace = join(root, "tally")
  const stateDirectory = join(root, "state")
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    writeFileSync(join(workspace, path), content)
  }
  const environment = childEnvironment(context, root, stateDirectory)
  const program = [...process.execArgv, process.argv[1] as string]
  const { styles } = context
  const steps: string[] = []

  function keepup(args: readonly string[], expected = 0): ChildResult {
    const { stdout, stderr, status } = spawnSync(process.execPath, [...program, ...args], {
      cwd: workspace,
      env: environment,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    })
    if (status !== expected) {
      throw fail(`keepup ${args.join(" ")} ended with ${status}, not ${expected}`, stderr || stdout)
    }
    return { stdout, stderr, status }
  }

  function say(text: string): void {
    if (!context.flags.json && !context.flags.quiet) context.stream(undefined, () => text)
  }

  /** Each line behind `before`, and broken where the terminal ends. */
  function fit(text: string, before: string): string {
    const lines = text.split("\n").flatMap((line) => {
      const inner = /^ */.exec(line)?.[0] ?? ""
      return `${inner}${wrap(line.slice(inner.length), context.width - before.length - inner.length, inner)}`.split(
        "\n",
      )
    })
    return lines.map((line) => (line === "" ? "" : before + line)).join("\n")
  }

  return {
    workspace,
    stateDirectory,
    environment,
    steps,
    step(title, command) {
      steps.push(title)
      const shown = command === undefined ? "" : `\n    ${styles.cyan(`$ ${command}`)}`
      const number = `${String(steps.length).padStart(2)}. `
      say(`${styles.bold(`${number}${fit(title, "    ").trimStart()}`)}${shown}`)
    },
    show: (text) => say(fit(text.trimEnd(), indent)),
    check(what, isSo, details) {
      if (!isSo) throw fail(`it is not so that ${what}`, details)
      say(`    ${styles.green("ok")} ${fit(what, "       ").trimStart()}`)
    },
    keepup,
    ask: (args) => JSON.parse(keepup([...args, "--json"]).stdout),
    start: (args) =>
      spawn(process.execPath, [...program, ...args], {
        cwd: workspace,
        env: environment,
        stdio: ["ignore", "pipe", "pipe"],
      }),
    writeScript(name, answers) {
      const path = join(root, `${name}.responses.jsonl`)
      writeFileSync(path, answers.map((answer) => `${JSON.stringify(answer)}\n`).join(""))
      return path
    },
    picture() {
      const names = readdirSync(workspace, { recursive: true, withFileTypes: true })
        .filter((item) => item.isFile())
        .map((item) => join(item.parentPath ?? item.path, item.name))
      const lines = names.map((path) => `${path} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`)
      return lines.sort().join("\n")
    },
    testsPass: () =>
      spawnSync(process.execPath, ["test.mjs"], { cwd: workspace, stdio: "ignore", env: environment }).status === 0,
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** The user's own store, settings and colours have no part in it. */
function childEnvironment({ machine, width }: Context, root: string, stateDirectory: string): NodeJS.ProcessEnv {
  const own = Object.entries(machine.environment).filter(
    ([name]) => !name.startsWith("KEEPUP_") && name !== "FORCE_COLOR",
  )
  return {
    ...Object.fromEntries(own),
    KEEPUP_STATE_DIR: stateDirectory,
    XDG_CONFIG_HOME: join(root, "config"),
    NO_COLOR: "1",
    ...(Number.isFinite(width) && { KEEPUP_COLUMNS: String(width - indent.length) }),
  }
}

function fail(what: string, details?: string): KeepupError {
  return new KeepupError("INTERNAL", `The demo is not as it says: ${what}.${details ? `\n${details.trim()}` : ""}`, {
    hint: "This is a bug in keepup; please report it.",
  })
}
