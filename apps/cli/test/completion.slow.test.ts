/** Completion in the shells themselves: each is started, told the script, and asked what the Tab key would offer. */
import { spawnSync } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { spawn as openTerminal } from "@lydell/node-pty"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { buildOnce, openPlace, type Place, program } from "./real-keepup.js"

let place: Place
let environment: NodeJS.ProcessEnv

beforeAll(async () => {
  await buildOnce()
  place = openPlace()
  const folder = join(place.root, "bin")
  mkdirSync(folder)
  symlinkSync(program, join(folder, "keepup"))
  symlinkSync(process.execPath, join(folder, "node"))
  environment = { ...place.environment, PATH: `${folder}:${process.env["PATH"]}`, TERM: "dumb" }
  place.write("a.txt", "one\n")
  mkdirSync(join(place.workspace, "sub"))
  place.run("session", "new", "Parser: work")
  place.run("checkpoint", "create", "--name", "before it: all")
  place.run("checkpoint", "create", "--name", "plain")
})
afterAll(() => place.remove())

function runShell(shell: string, args: readonly string[], input = ""): string {
  const options = { cwd: place.workspace, env: environment, encoding: "utf8" as const, input, timeout: 240_000 }
  const { error, status, stdout, stderr } = spawnSync(shell, args, options)
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT") {
    throw new Error(`There is no ${shell} here. Install it: completion is proven in the shell itself.`)
  }
  expect(status, `${error?.message ?? ""}${stderr}`).toBe(0)
  return stdout
}

interface Typing {
  /** What the line has become when Tab was pressed at its end. */
  completed(line: string): Promise<string | undefined>
  close(): void
}

/** A shell on a terminal of its own: Tab completes the line, and ^X, as the settings say, shows what it has become. */
async function typeInto(shell: string, args: readonly string[], settings: readonly string[]): Promise<Typing> {
  const file = join(place.root, `settings.${shell}`)
  writeFileSync(file, `${[...settings, "echo ready"].join("\n")}\n`)
  runShell(shell, ["-c", "true"])
  const child = openTerminal(shell, [...args], { cwd: place.workspace, env: environment, cols: 200, rows: 50 })
  let seen = ""
  child.onData((data) => {
    seen += data
  })
  const waitFor = async (pattern: RegExp) => {
    await vi
      .waitUntil(() => pattern.test(seen), { timeout: 120_000 })
      .catch(() => {
        throw new Error(`${pattern} was not seen in ${JSON.stringify(seen)}`)
      })
    return pattern.exec(seen)?.[1]
  }
  child.write(`source ${file}\n`)
  await waitFor(/ready/)
  return {
    async completed(line) {
      seen = ""
      child.write(`${line}\t\u0018`)
      return await waitFor(/<<(.*)>>/)
    },
    close: () => child.kill("SIGKILL"),
  }
}

/** What a line becomes is the same in bash and zsh. */
const lines = [
  ["keepup che", "keepup checkpoint "],
  ["keepup checkpoint restore --dr", "keepup checkpoint restore --dry-run "],
  ["keepup checkpoint restore bef", "keepup checkpoint restore before\\ it:\\ all "],
  ["keepup checkpoint restore before\\ it:", "keepup checkpoint restore before\\ it:\\ all "],
  ['keepup checkpoint restore "before it: a', 'keepup checkpoint restore "before it: all" '],
  ["keepup checkpoint create --state a.", "keepup checkpoint create --state a.txt "],
  ["keepup checkpoint create --state=a.", "keepup checkpoint create --state=a.txt "],
  ["keepup --session=Par", "keepup --session=Parser:\\ work "],
  ["keepup --session=Parser:\\ w", "keepup --session=Parser:\\ work "],
  [
    "keepup --session=Parser:\\ work checkpoint restore pl",
    "keepup --session=Parser:\\ work checkpoint restore plain ",
  ],
  ["keepup run --approval=au", "keepup run --approval=auto "],
  ["keepup checkpoint replay 1 --mode=v", "keepup checkpoint replay 1 --mode=verify "],
  ["keepup --cwd=su", "keepup --cwd=sub/"],
] as const

it("bash offers commands, options, names and files, also after a =", async () => {
  const shell = await typeInto(
    "bash",
    ["--norc", "-i"],
    [
      'show() { printf "<<%s>>" "$READLINE_LINE"; READLINE_LINE=; }; bind -x \'"\\C-x":show\'',
      'eval "$(keepup completion bash)"',
    ],
  )
  try {
    for (const [line, whole] of lines) expect(await shell.completed(line)).toBe(whole)
  } finally {
    shell.close()
  }
})

it("bash keeps a = in a word where it is told to", async () => {
  const shell = await typeInto(
    "bash",
    ["--norc", "-i"],
    [
      'show() { printf "<<%s>>" "$READLINE_LINE"; READLINE_LINE=; }; bind -x \'"\\C-x":show\'',
      'COMP_WORDBREAKS=${COMP_WORDBREAKS//[=:]/}; eval "$(keepup completion bash)"',
    ],
  )
  try {
    expect(await shell.completed("keepup --session=Par")).toBe("keepup --session=Parser:\\ work ")
  } finally {
    shell.close()
  }
})

it("fish offers commands, options, names with what they are, and files where one is wanted", () => {
  const script = join(place.root, "keepup.fish")
  writeFileSync(script, place.run("completion", "fish").out)
  const offered = (line: string) =>
    runShell("fish", ["--no-config", "-c", `source ${script}; complete -C '${line}'`])
      .split("\n")
      .slice(0, -1)
  expect(offered("keepup che")).toEqual(["checkpoint\tcheckpoint …"])
  expect(offered("keepup checkpoint restore --dr")).toEqual(["--dry-run\tonly show the plan"])
  expect(offered("keepup checkpoint restore bef")).toEqual([expect.stringMatching(/^before it: all\t#1, manual, /)])
  expect(offered("keepup checkpoint create --state a.")).toEqual(["a.txt"])
  expect(offered("keepup checkpoint restore a.")).toEqual([])
  expect(offered("keepup checkpoint restore before\\\\ i")).toEqual([expect.stringMatching(/^before it: all\t/)])
  expect(offered("keepup --session=Par")).toEqual([expect.stringMatching(/^--session=Parser: work\t/)])
  expect(offered("keepup run --approval=a")).toEqual(["--approval=ask", "--approval=auto"])
  expect(offered("keepup --cwd=su")).toEqual(["--cwd=sub/"])
})

it("zsh offers commands, options, names and files, also after a =", async () => {
  const shell = await typeInto(
    "zsh",
    ["-f", "-i"],
    [
      "autoload -Uz compinit; compinit -D -u",
      'eval "$(keepup completion zsh)"',
      "show() { print -r -- \"<<$BUFFER>>\"; BUFFER= }; zle -N show; bindkey '^X' show",
    ],
  )
  try {
    for (const [line, whole] of lines) expect(await shell.completed(line)).toBe(whole)
  } finally {
    shell.close()
  }
})
