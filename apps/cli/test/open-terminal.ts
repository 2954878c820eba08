/** The real program in a real pseudo-terminal: keys go in, and what was drawn is looked for. */
import { type IPty, spawn } from "@lydell/node-pty"
import { type Place, program } from "./real-keepup.js"

export interface Terminal {
  readonly pid: number
  type(keys: string): void
  /** A line and Enter. */
  enter(line: string): void
  /** Resolves when the text was drawn since the last key: in whichever order and how many pieces things are drawn. */
  sees(text: string | RegExp): Promise<string>
  /** Everything since the last key, without colours and movements. */
  screen(): string
  /** Everything, with them. */
  raw(): string
  resize(columns: number, rows: number): void
  kill(signal: string): void
  readonly ended: Promise<number>
}

export interface OpenTerminalOptions {
  readonly columns?: number
  readonly rows?: number
  readonly environment?: Readonly<Record<string, string>>
}

const patienceMs = 120_000

export function openTerminal(place: Place, words: readonly string[], options: OpenTerminalOptions = {}): Terminal {
  const env = { ...place.environment, TERM: "xterm-256color", ...options.environment } as Record<string, string>
  const child: IPty = spawn(process.execPath, [program, ...words], {
    cols: options.columns ?? 80,
    rows: options.rows ?? 24,
    cwd: place.workspace,
    env,
  })
  let raw = ""
  let from = 0
  const waiting = new Set<() => void>()
  child.onData((text) => {
    raw += text
    for (const look of waiting) look()
  })
  const ended = new Promise<number>((resolve) => {
    child.onExit(({ exitCode }) => {
      resolve(exitCode)
      for (const look of waiting) look()
    })
  })

  function sees(text: string | RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(look)
        reject(new Error(`never seen: ${text}\n${plain(raw.slice(from))}`))
      }, patienceMs)
      const look = () => {
        const seen = plain(raw.slice(from))
        if (typeof text === "string" ? !seen.includes(text) : !text.test(seen)) return
        clearTimeout(timer)
        waiting.delete(look)
        resolve(seen)
      }
      waiting.add(look)
      look()
    })
  }

  function type(keys: string): void {
    from = raw.length
    child.write(keys)
  }

  return {
    pid: child.pid,
    type,
    enter: (line) => type(`${line}\r`),
    sees,
    screen: () => plain(raw.slice(from)),
    raw: () => raw,
    resize: (columns, rows) => child.resize(columns, rows),
    kill: (signal) => child.kill(signal),
    ended,
  }
}

/** Without colours and movements of the cursor. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal obeys is made of control characters
  return text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007]*\u0007|\u001b[@-_]|\r/g, "")
}
