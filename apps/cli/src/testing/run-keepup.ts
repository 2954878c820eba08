/** keepup in this process, on a machine of its own: a home, a workspace, a clock that stands still, and what was printed. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Machine } from "../machine.js"
import { main } from "../main.js"

export interface RunOptions {
  /** Answers of the person at the terminal, or what gives one when it is asked for; without it nobody is there. */
  readonly answers?: readonly (string | (() => string))[]
  /** Columns of the terminal that standard output is. */
  readonly columns?: number
  readonly environment?: Readonly<Record<string, string>>
  readonly input?: string
  /** A folder of the workspace to be in. */
  readonly folder?: string
}

export interface Run {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface TestMachine {
  readonly root: string
  readonly workspace: string
  readonly state: string
  now: number
  /** Runs a command line: words, where quotes hold words together. */
  run(command: string | readonly string[], options?: RunOptions): Promise<Run>
  /** The same with `--json`, parsed; fails if it does not end with `code`. */
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are what the tests are about
  ask(command: string | readonly string[], code?: number): Promise<any>
  write(path: string, content: string): void
  read(path: string): string
  script(name: string, answers: readonly unknown[]): string
  remove(): void
}

export function createTestMachine(): TestMachine {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-cli-")))
  const workspace = join(root, "workspace")
  const state = join(root, "home/.local/state/keepup")
  mkdirSync(workspace, { recursive: true })
  mkdirSync(join(root, "home"))

  const self: TestMachine = {
    root,
    workspace,
    state,
    now: Date.now(),
    async run(command, options = {}) {
      const printed = { out: "", err: "" }
      const answers = [...(options.answers ?? [])]
      const machine: Machine = {
        environment: { PATH: process.env["PATH"], HOME: join(root, "home"), ...options.environment },
        homeDirectory: join(root, "home"),
        currentDirectory: join(workspace, options.folder ?? ""),
        clock: { now: () => self.now },
        stdout: {
          isTerminal: options.columns !== undefined,
          columns: options.columns,
          write: (text) => {
            printed.out += typeof text === "string" ? text : Buffer.from(text).toString("utf8")
          },
        },
        stderr: {
          isTerminal: options.columns !== undefined,
          columns: options.columns,
          write: (text) => {
            printed.err += text
          },
        },
        canAsk: options.answers !== undefined,
        async ask(question) {
          printed.err += question
          const answer = answers.shift()
          return typeof answer === "function" ? answer() : answer
        },
        readInput: async () => Buffer.from(options.input ?? ""),
        onInterrupt: () => undefined,
        exit: () => undefined,
      }
      const words = typeof command === "string" ? splitWords(command) : command
      return { code: await main(words, machine), ...printed }
    },
    async ask(command, code = 0) {
      const words = typeof command === "string" ? splitWords(command) : command
      const result = await self.run([...words, "--json"])
      if (result.code !== code) throw new Error(`ended with ${result.code}: ${result.out}${result.err}`)
      return JSON.parse(result.out)
    },
    write(path, content) {
      mkdirSync(dirname(join(workspace, path)), { recursive: true })
      writeFileSync(join(workspace, path), content)
    },
    read: (path) => readFileSync(join(workspace, path), "utf8"),
    script(name, answers) {
      const path = join(root, name)
      writeFileSync(path, answers.map((answer) => `${JSON.stringify(answer)}\n`).join(""))
      return path
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
  return self
}

function splitWords(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "")
}
