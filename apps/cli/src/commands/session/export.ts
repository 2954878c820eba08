/** `session export`: a session with everything that belongs to it in one file, or as a text to read. */
import { randomBytes } from "node:crypto"
import { createWriteStream, existsSync, renameSync, rmSync, type Stats, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { exportSession, fromFileError, KeepupError, renderMarkdown, shortId, streamExport } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import { bytes, oneLine, plural } from "../../output/text.js"
import { getSession } from "../../references.js"
import { toJson } from "./json-export.js"

export const exportCommand: Command = {
  summary: "a session with everything in it, as one file",
  description: [
    "The file holds the log, the checkpoints with their files, state and artifacts; `keepup session import` takes it in anywhere. " +
      "With --redact secrets are taken out of what was said, and the files of the checkpoints are left out.",
  ],
  arguments: [
    { name: "SESSION?", summary: "an id or a part of it, a name, or latest", completes: "session" },
    {
      name: "FILE?",
      summary: "where to write it; a name made from the session unless told, - for standard output",
      completes: "file",
    },
  ],
  options: [
    {
      flags: "--format <FORMAT>",
      summary: "keepup (compressed) or json to take it in again, md to read it",
      choices: ["keepup", "json", "md"],
    },
    { flags: "--redact", summary: "without secrets, without files" },
    { flags: "--no-files", summary: "without the files of the checkpoints" },
    { flags: "--force", summary: "replace a file that is there" },
  ],
  examples: [
    { command: "keepup session export latest work.keepup", does: "Take it to another machine" },
    { command: "keepup session export latest - --format md --redact", does: "To read, or to show someone" },
  ],
  exits: ["NOT_FOUND", "CONFLICT"],
  async run(context, input) {
    const session = await getSession(context, input.optional("SESSION") ?? context.flags.session)
    const runtime = await context.openRuntime()
    const format = input.option("format") ?? "keepup"
    const options = {
      sessionId: session.id,
      redact: input.flag("redact"),
      snapshots: !input.isOff("files"),
      onProgress: (done: number) => context.progress.report("Exporting records", done, 0),
      signal: context.signal,
    }
    const name = input.optional("FILE") ?? `keepup-${shortId(session.id)}.${format}`
    const source = () => {
      if (format === "md") return renderMarkdown(runtime, options)
      const { bytes: compressed } = streamExport(runtime, options)
      return format === "json" ? toJson(compressed) : compressed
    }
    if (name === "-") {
      for await (const part of source()) context.machine.stdout.write(part)
      return
    }
    const path = resolve(context.machine.currentDirectory, name)
    refuseTaken(path, input.flag("force"))
    context.progress.report("Exporting records", 0, 0)
    if (format !== "keepup") {
      await context.uninterrupted(() => writeWhole(path, source(), context.signal), stopped(path))
      context.answer({ path, sessionId: session.id }, () => `"${oneLine(session.name)}" is in ${oneLine(path)}.`)
      return
    }
    const write = () => exportSession(runtime, { ...options, path, overwrite: input.flag("force") })
    const result = await context.uninterrupted(write, stopped(path))
    for (const { what, reason } of result.leftOut) context.warn(`Left out: ${what} (${reason})`)
    const { counts, leftOut, redactions, sizeBytes } = result
    context.answer({ path, sessionId: session.id, sizeBytes, counts, leftOut, redactions }, () => {
      const redacted = redactions > 0 ? ` ${plural(redactions, "secret")} taken out.` : ""
      return `"${oneLine(session.name)}" is in ${oneLine(path)}, ${bytes(sizeBytes)}.${redacted}`
    })
  },
}

function refuseTaken(path: string, isForced: boolean): void {
  const there = lookAt(path)
  if (there?.isDirectory()) {
    throw new KeepupError("INVALID_INPUT", `${path} is a folder.`, { hint: "Name the file to write." })
  }
  if (there !== undefined && !isForced) {
    throw new KeepupError("CONFLICT", `There is a file ${path} already.`, { hint: "Name another file, or --force." })
  }
  const folder = dirname(path)
  if (existsSync(folder)) return
  throw new KeepupError("NOT_FOUND", `There is no folder ${folder}.`, { hint: "Make it first, or name another." })
}

function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw fromFileError(error, `write ${path}`)
  }
}

function stopped(path: string) {
  return { stopped: `Stopped; ${oneLine(path)} was not written.` }
}

/** The file is whole, or as it was. */
async function writeWhole(path: string, parts: AsyncIterable<string | Buffer>, signal: AbortSignal): Promise<void> {
  const temporary = join(dirname(path), `.keepup-${randomBytes(8).toString("hex")}.tmp`)
  try {
    await pipeline(Readable.from(parts), createWriteStream(temporary, { flags: "wx", mode: 0o600 }), { signal })
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw fromFileError(error, `write ${path}`)
  }
}
