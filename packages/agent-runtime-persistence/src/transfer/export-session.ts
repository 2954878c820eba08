/** Writes a session with everything that belongs to it into one file. The file is whole and on disk, or not there. */
import { createHash, randomBytes } from "node:crypto"
import { createWriteStream, existsSync } from "node:fs"
import { open, rename, stat, unlink } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { pipeline as pipeThrough, Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"
import { isKeepupError, KeepupError } from "@ku0/agent-runtime-core"
import { fromFileError } from "../artifact/file-error.js"
import { makeFolder, syncFolder } from "../artifact/make-folder.js"
import { exportRecords } from "./export-records.js"
import { createExportWork, type ExportOptions, type ExportReport, type TransferContext } from "./export-work.js"
import type { EndRecord } from "./transfer-format.js"

export interface ExportSessionOptions extends ExportOptions {
  readonly path: string
  /** Replace a file that is there. */
  readonly overwrite?: boolean
}

export interface ExportSessionResult extends ExportReport {
  readonly path: string
  readonly sizeBytes: number
}

const flushAt = 64 * 1024

export async function exportSession(
  context: TransferContext,
  options: ExportSessionOptions,
): Promise<ExportSessionResult> {
  const path = resolve(options.path)
  if (options.overwrite !== true && existsSync(path)) {
    throw new KeepupError("CONFLICT", `There is a file ${path} already.`, { hint: "Name another file." })
  }
  const temporary = join(dirname(path), `.keepup-${randomBytes(8).toString("hex")}.tmp`)
  const { bytes, report } = streamExport(context, options)
  try {
    await makeFolder(dirname(path))
    await pipeline(Readable.from(bytes), createWriteStream(temporary, { flags: "wx", mode: 0o600 }))
    const file = await open(temporary, "r+")
    await file.sync().finally(() => file.close())
    await rename(temporary, path)
    await syncFolder(dirname(path))
  } catch (error) {
    await unlink(temporary).catch(() => undefined) // the first failure is the one to tell
    throw isKeepupError(error) ? error : fromFileError(error, `write ${path}`)
  }
  return { ...report(), path, sizeBytes: (await stat(path)).size }
}

/** The same as bytes, for whoever sends them elsewhere. `report` is complete when all bytes were taken. */
export function streamExport(
  context: TransferContext,
  options: ExportOptions,
): { bytes: AsyncIterable<Buffer>; report: () => ExportReport } {
  const work = createExportWork(context, options)
  return {
    bytes: compress(encode(exportRecords(work), work.report.counts, options)),
    report: () => ({ ...work.report, redactions: work.redactor?.count ?? 0 }),
  }
}

async function* compress(lines: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gzip = createGzip()
  pipeThrough(Readable.from(lines), gzip, () => undefined) // a failure reaches whoever reads
  yield* gzip as AsyncIterable<Buffer>
}

async function* encode(
  lines: AsyncIterable<string>,
  counts: EndRecord["counts"],
  { onProgress, signal }: ExportOptions,
): AsyncGenerator<Buffer> {
  let done = 0
  const hash = createHash("sha256")
  let pending: string[] = []
  let size = 0
  const flush = () => {
    const bytes = Buffer.from(pending.join(""))
    hash.update(bytes)
    pending = []
    size = 0
    return bytes
  }
  for await (const line of lines) {
    signal?.throwIfAborted()
    pending.push(line, "\n")
    onProgress?.(++done)
    size += line.length
    if (size >= flushAt) yield flush()
  }
  yield flush()
  const end: EndRecord = { record: "end", counts, sha256: hash.digest("hex") }
  yield Buffer.from(`${JSON.stringify(end)}\n`)
}
