import { spawnSync } from "node:child_process"
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { buildOnce, openPlace, type Place, program } from "./real-keepup.js"

let place: Place
let socket: string

beforeAll(async () => {
  await buildOnce()
  if (spawnSync("tmux", ["-V"]).status !== 0) {
    throw new Error("tmux is needed for this proof: install it (apt-get install tmux, brew install tmux).")
  }
})

beforeEach(() => {
  place = openPlace()
  socket = `${place.root}/tmux`
})

afterEach(() => {
  spawnSync("tmux", ["-S", socket, "kill-server"])
  place.remove()
})

function tmux(...words: string[]): string {
  const { status, stdout, stderr } = spawnSync("tmux", ["-S", socket, ...words], {
    env: place.environment,
    encoding: "utf8",
  })
  if (status !== 0) throw new Error(`tmux ${words[0]}: ${stderr}`)
  return stdout
}

/** What a person sees now. */
const look = () => tmux("capture-pane", "-p", "-t", "chat")

async function sees(text: string | RegExp): Promise<string> {
  const end = Date.now() + 120_000
  for (;;) {
    const screen = look()
    if (typeof text === "string" ? screen.includes(text) : text.test(screen)) return screen
    if (Date.now() > end) throw new Error(`never seen: ${text}\n${screen}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function enter(line: string): void {
  tmux("send-keys", "-t", "chat", "-l", line)
  tmux("send-keys", "-t", "chat", "Enter")
}

function open(...words: string[]): void {
  openIn(place.workspace, ...words)
}

function openIn(folder: string, ...words: string[]): void {
  const command = [process.execPath, program, ...words].map((word) => `'${word}'`).join(" ")
  const size = ["-x", "80", "-y", "24"]
  tmux(
    "-f",
    "/dev/null",
    "new-session",
    "-d",
    "-s",
    "chat",
    ...size,
    "-c",
    folder,
    `${command}; echo "ended $?"; read -r _`,
  )
}

const write = (path: string, content: string) => ({ name: "write_file", arguments: { path, content } })

describe("the chat in tmux", () => {
  it("fits into 80x24, keeps its lines when the size changes, and travels by the arrow keys", async () => {
    const script = place.script([
      { content: "I write a file.", toolCalls: [write("a.txt", "one\n")] },
      { content: "The file is there." },
    ])
    open("--script", script, "--approval", "auto")
    await sees("Ask something")
    enter("make a file")
    await sees(/The file is there\.[\s\S]*run ended[\s\S]*1 file changed/)
    enter("/checkpoints")
    const screen = await sees("Use `/rewind <#>` to restore to a checkpoint.")
    expect(screen.split("\n").every((line) => line.length <= 80)).toBe(true)
    tmux("resize-window", "-t", "chat", "-x", "50", "-y", "15")
    await sees(/^─{49}$/m)
    tmux("resize-window", "-t", "chat", "-x", "80", "-y", "24")
    await sees(/^─{79}$/m)
    await sees(/^(?!(?:[\s\S]*Ask something){2})[\s\S]*Ask something/) // once: the old lines are gone
    tmux("send-keys", "-t", "chat", "C-t")
    await sees("Timeline")
    for (let step = 0; step < 9; step++) tmux("send-keys", "-t", "chat", "Up")
    await sees(/> #1 [\s\S]*a\.txt/)
    tmux("send-keys", "-t", "chat", "Escape")
    await sees("Ask something")
    enter("/quit")
    await sees("Go on with: keepup chat -S")
  })

  it("shows the end of an answer of 10,000 lines and goes on", async () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index}`).join("\n\n")
    open("--script", place.script([{ content: lines }, { content: "Short." }]))
    await sees("Ask something")
    enter("much")
    await sees(/line 9999[\s\S]*run ended/)
    enter("little")
    await sees(/Short\.[\s\S]*run ended/)
  })

  it.each(["/", "home"])(
    "says in a folder that can't be a workspace (%s) that it can't, and draws nothing else",
    async (name) => {
      const folder = name === "/" ? name : `${place.root}/home`
      openIn(folder, "chat")
      const lines = (await sees("ended 2")).split("\n").filter((line) => line !== "")
      const text = `error: ${folder} can't be a workspace: it holds more than one piece of work, or keepup's own files. [INVALID_INPUT]`
      const closed = (words: string) => words.replaceAll(/\s/g, "") // where the lines were broken is not the point
      expect(closed(lines.slice(0, -2).join(""))).toBe(closed(text))
      expect(lines.slice(-2)).toEqual(["Go to the folder of one project, or name it with --cwd.", "ended 2"])
      expect(place.ask("session", "list", "--all").sessions).toEqual([])
    },
  )

  it("leaves nothing of itself on the screen when it can't begin", async () => {
    place.run("session", "new")
    spawnSync("sh", ["-c", `echo broken > ${place.root}/home/.local/state/keepup/keepup.db`])
    open("chat")
    const screen = await sees(/ended \d/)
    expect(screen.trimStart()).toMatch(/^error: /)
    expect(screen).not.toContain("Ask something")
  })
})
