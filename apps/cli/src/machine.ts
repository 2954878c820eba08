/** The machine a command runs on: its streams, environment, clock and signals. Tests hand in another one. */
import { fstatSync, writeSync } from "node:fs"
import { homedir } from "node:os"
import { isatty } from "node:tty"
import { errorCodes, KeepupError } from "@ku0/agent-runtime"

export interface OutputStream {
  readonly isTerminal: boolean
  /** Columns, if it is a terminal. */
  readonly columns: number | undefined
  write(text: string | Uint8Array): void
}

export interface Machine {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly homeDirectory: string
  readonly currentDirectory: string
  readonly clock: { now(): number }
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  /** Whether a person can be asked: both ends are a terminal. */
  readonly canAsk: boolean
  /** Asks on standard error and returns the line, or `undefined` when the input ends. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>
  /** Everything on standard input. */
  readInput(): Promise<Buffer>
  /** Calls back at every Ctrl-C and SIGTERM. */
  onInterrupt(listener: (signal: "SIGINT" | "SIGTERM") => void): void
  /** Ends the process at once. */
  exit(code: number): void
}

/** The streams of the process are touched when they are needed: making them takes time that a start does not have. */
export function openMachine(): Machine & { isWritten(): boolean; close(): void } {
  const { env } = process
  const stdout = toOutput(1, () => process.stdout)
  const stderr = toOutput(2, () => process.stderr)
  const listeners: [NodeJS.Signals, () => void][] = []
  return {
    environment: env,
    homeDirectory: env["HOME"] || homedir(),
    get currentDirectory() {
      return findCurrentDirectory()
    },
    clock: { now: () => Date.now() },
    stdout,
    stderr,
    get canAsk() {
      return isTerminal(0) && isTerminal(2)
    },
    async ask(question, signal) {
      const { createInterface } = await import("node:readline/promises")
      const reader = createInterface({ input: process.stdin, output: process.stderr })
      try {
        const closed = new Promise<undefined>((resolve) => reader.once("close", () => resolve(undefined)))
        reader.once("SIGINT", () => process.emit("SIGINT"))
        const answer = await Promise.race([reader.question(question, { signal }), closed])
        if (answer === undefined) process.stderr.write("\n") // the line of the question has not ended
        return answer
      } finally {
        reader.close()
      }
    },
    async readInput() {
      const chunks: Buffer[] = []
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks)
    },
    onInterrupt(listener) {
      for (const signal of ["SIGINT", "SIGTERM"] as const) {
        const handler = () => listener(signal)
        process.on(signal, handler)
        listeners.push([signal, handler])
      }
    },
    exit: (code) => process.exit(code),
    isWritten: () => stdout.isWritten() && stderr.isWritten(),
    close() {
      for (const [signal, handler] of listeners) process.off(signal, handler)
    },
  }
}

/** Asked for when it is needed: what names another folder works in one that is gone. */
function findCurrentDirectory(): string {
  try {
    return process.cwd()
  } catch (cause) {
    throw new KeepupError("INVALID_INPUT", "The current folder is gone.", {
      cause,
      hint: "Go to one that is there, or name the workspace with --cwd. One that was deleted is made again first, then restored.",
    })
  }
}

function toOutput(fd: 1 | 2, open: () => NodeJS.WriteStream): OutputStream & { isWritten(): boolean } {
  let opened: NodeJS.WriteStream | undefined
  const stream = () => {
    if (opened !== undefined) return opened
    opened = open()
    opened.on("error", (error) => giveUp(fd, error))
    return opened
  }
  return {
    isTerminal: isTerminal(fd),
    get columns() {
      return isTerminal(fd) ? stream().columns : undefined
    },
    write(text) {
      if (opened !== undefined || isTerminal(fd)) stream().write(text)
      else writeAll(fd, Buffer.from(text), stream)
    },
    // a terminal that was not written to here is one that a screen was drawn on
    isWritten: () => (opened === undefined ? fd === 2 || !isTerminal(fd) : opened.writableLength === 0),
  }
}

/** Into a pipe or a file without a stream; what a full pipe does not take now is left to one. */
function writeAll(fd: 1 | 2, bytes: Buffer, stream: () => NodeJS.WriteStream): void {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(fd, bytes, done)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === "EAGAIN") stream().write(bytes.subarray(done))
      else giveUp(fd, error as NodeJS.ErrnoException)
      return
    }
  }
}

/**
 * Whoever reads our output may go away (`| head`): then there is nobody left to tell anything. A command whose remarks
 * nobody hears goes on all the same: its exit code says how it ended.
 */
function giveUp(fd: 1 | 2, { code, message }: NodeJS.ErrnoException): void {
  if (fd === 2) return
  if (code === "EPIPE") process.exit(0)
  const lost = "What was done is kept; only the answer could not be written."
  writeAll(
    2,
    Buffer.from(`error: Standard output can't be written (${message}). [UNAVAILABLE]\n${lost}\n`),
    () => process.stderr,
  )
  process.exit(errorCodes.UNAVAILABLE.exit)
}

/** `isatty` brings half of Node's network along: most of what is no terminal can be told without it. */
function isTerminal(fd: number): boolean {
  try {
    // as big integers: Node takes the numbers of a pipe that was looked at last for those of the next module it looks for
    const facts = fstatSync(fd, { bigint: true })
    const isNull = process.platform === "linux" && facts.rdev === 0x103n
    return facts.isCharacterDevice() && !isNull && isatty(fd)
  } catch {
    return false // it was closed by whoever started us
  }
}
