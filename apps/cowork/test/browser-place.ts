/** The real program, its real server and a real browser, each test on a home and a workspace of its own. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { type Browser, chromium, type Page } from "playwright-core"

const program = fileURLToPath(new URL("../../cli/dist/keepup.cjs", import.meta.url))
const builder = fileURLToPath(new URL("../../../scripts/build.mjs", import.meta.url))

/** The first test file of a run that needs the program builds it, in whichever package; the others wait for it. */
export async function buildOnce(): Promise<void> {
  const run = process.env["KEEPUP_TEST_RUN"]
  if (run === undefined) throw new Error("KEEPUP_TEST_RUN is not set: the configurations of vitest do that.")
  const mark = join(tmpdir(), `keepup-cli-build-${run}`)
  const done = join(mark, "done")
  try {
    mkdirSync(mark)
  } catch {
    await until(() => existsSync(done), `nobody finished the build: ${mark}`)
    const problem = readFileSync(done, "utf8")
    if (problem !== "") throw new Error(problem)
    return
  }
  const built = spawnSync(process.execPath, [builder, "keepup", "--bundle"], { encoding: "utf8" })
  const problem = built.status === 0 ? "" : `The program can't be built: ${built.stdout}${built.stderr}`
  writeFileSync(join(mark, "part"), problem)
  renameSync(join(mark, "part"), done)
  if (problem !== "") throw new Error(problem)
}

/** How long anything in the browser may take: far beyond what it takes, also on a machine with other work. */
export const patienceMs = 120_000

const usualPlaces = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]

/** `CHROMIUM` names another browser than the usual ones. A test without a browser fails: it does not skip. */
export async function openBrowser(): Promise<Browser> {
  const places = process.env["CHROMIUM"] === undefined ? usualPlaces : [process.env["CHROMIUM"]]
  const executablePath = places.find((path) => existsSync(path))
  if (executablePath === undefined) {
    throw new Error(
      `There is no browser at ${places.join(", ")}: install one (apt-get install chromium) or set CHROMIUM.`,
    )
  }
  return chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: patienceMs })
}

export interface RunningServer {
  readonly url: string
  readonly loginUrl: string
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>
}

export interface Place {
  readonly root: string
  readonly workspace: string
  readonly stateDirectory: string
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  ask(...words: string[]): any
  start(...words: string[]): ChildProcess
  serve(port?: number): Promise<RunningServer>
  write(path: string, content: string): void
  read(path: string): string
  has(path: string): boolean
  script(answers: readonly unknown[]): string
  remove(): Promise<void>
}

export function createPlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-page-")))
  const workspace = join(root, "workspace")
  const stateDirectory = join(root, "state")
  mkdirSync(workspace)
  mkdirSync(join(root, "home"))
  const { PATH, LANG } = process.env
  const environment = { PATH, LANG, HOME: join(root, "home"), KEEPUP_STATE_DIR: stateDirectory, NO_COLOR: "1" }
  const options = { cwd: workspace, env: environment as NodeJS.ProcessEnv }
  const children = new Set<ChildProcess>()
  let scripts = 0
  const start = (...words: string[]) => {
    const child = spawn(process.execPath, [program, ...words], options)
    children.add(child)
    child.once("close", () => children.delete(child))
    return child
  }
  return {
    root,
    workspace,
    stateDirectory,
    start,
    ask(...words) {
      const result = spawnSync(process.execPath, [program, ...words, "--json"], {
        ...options,
        encoding: "utf8",
        input: "",
      })
      if (result.status !== 0)
        throw new Error(`${words.join(" ")} ended with ${result.status}: ${result.stdout}${result.stderr}`)
      return JSON.parse(result.stdout.trim().split("\n").at(-1) as string)
    },
    async serve(port = 0) {
      const child = start("serve", "--port", String(port), "--json")
      let problem = ""
      child.stderr?.on("data", (chunk) => {
        problem += chunk
      })
      for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
        const { server } = JSON.parse(line) as { server: { url: string; loginUrl: string } }
        return { ...server, kill: () => end(child) }
      }
      throw new Error(`keepup serve ended before it said its address: ${problem}`)
    },
    write(path, content) {
      mkdirSync(dirname(join(workspace, path)), { recursive: true })
      writeFileSync(join(workspace, path), content)
    },
    read: (path) => readFileSync(join(workspace, path), "utf8"),
    has: (path) => existsSync(join(workspace, path)),
    script(answers) {
      const path = join(root, `${++scripts}.responses.jsonl`)
      writeFileSync(path, answers.map((answer) => `${JSON.stringify(answer)}\n`).join(""))
      return path
    },
    async remove() {
      await Promise.all([...children].map(end))
      rmSync(root, { recursive: true, force: true })
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = new Promise((resolve) => child.once("close", resolve))
  child.kill("SIGKILL")
  await closed
}

/** Looks again until it is so. */
export async function until(isSo: () => boolean | Promise<boolean>, problem: string): Promise<void> {
  const late = Date.now() + 240_000
  while (!(await isSo())) {
    if (Date.now() > late) throw new Error(problem)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Everything the page or its policy complained about, except what the test says it expects. */
export function listenForProblems(page: Page, isExpected: (text: string) => boolean = () => false): string[] {
  const problems: string[] = []
  const note = (text: string) => {
    if (!isExpected(text)) problems.push(text)
  }
  page.on("pageerror", (error) => note(error.message))
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") note(message.text())
  })
  return problems
}

/** Turns of the scripted agent: one that writes a file, and so on. */
export const writes = (path: string, content: string, words: string) => ({
  content: words,
  toolCalls: [{ name: "write_file", arguments: { path, content } }],
})
export const runs = (command: string, words: string) => ({
  content: words,
  toolCalls: [{ name: "run_command", arguments: { command } }],
})
export const says = (content: string) => ({ content })
