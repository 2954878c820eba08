/** The real program, built once for a run of the tests, each test on a home and a workspace of its own. */
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
import { fileURLToPath } from "node:url"

export const program = fileURLToPath(new URL("../dist/keepup.cjs", import.meta.url))

const builder = fileURLToPath(new URL("../../../scripts/build.mjs", import.meta.url))

/** The first test file of a run builds; the others wait for it. */
export async function buildOnce(): Promise<void> {
  const run = process.env["KEEPUP_TEST_RUN"]
  if (run === undefined) throw new Error("KEEPUP_TEST_RUN is not set: the configurations of vitest do that.")
  const mark = join(tmpdir(), `keepup-cli-build-${run}`)
  const done = join(mark, "done")
  try {
    mkdirSync(mark)
  } catch {
    const end = Date.now() + 240_000
    while (!existsSync(done)) {
      if (Date.now() > end) throw new Error(`nobody finished the build: ${mark}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
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

export interface Result {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Place {
  readonly root: string
  readonly workspace: string
  readonly environment: NodeJS.ProcessEnv
  run(...words: string[]): Result
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are what the tests are about
  ask(...words: string[]): any
  start(...words: string[]): ChildProcess
  write(path: string, content: string): void
  read(path: string): string
  script(answers: readonly unknown[]): string
  remove(): void
}

export function openPlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-e2e-")))
  const workspace = join(root, "workspace")
  mkdirSync(workspace)
  mkdirSync(join(root, "home"))
  const environment = { PATH: process.env["PATH"], HOME: join(root, "home"), TZ: "UTC" }
  let scripts = 0
  const place: Place = {
    root,
    workspace,
    environment,
    run(...words) {
      const options = { cwd: workspace, env: environment, encoding: "utf8" as const, input: "" }
      const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], options)
      return { code: status, out: stdout, err: stderr }
    },
    ask(...words) {
      const { code, out, err } = place.run(...words, "--json")
      if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${out}${err}`)
      return JSON.parse(out)
    },
    start: (...words) => spawn(process.execPath, [program, ...words], { cwd: workspace, env: environment }),
    write(path, content) {
      mkdirSync(dirname(join(workspace, path)), { recursive: true })
      writeFileSync(join(workspace, path), content)
    },
    read: (path) => readFileSync(join(workspace, path), "utf8"),
    script(answers) {
      const path = join(root, `${++scripts}.responses.jsonl`)
      writeFileSync(path, answers.map((answer) => `${JSON.stringify(answer)}\n`).join(""))
      return path
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
  return place
}
