/** An exported session as one JSON document: an array with a record on each line; and back into the file that import takes. */
import { randomBytes } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import { unlink } from "node:fs/promises"
import { join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGunzip, createGzip } from "node:zlib"
import { KeepupError, toKeepupError } from "@ku0/agent-runtime"
import { makeFolder } from "../../make-folder.js"

/** How such a file begins. */
export const jsonExportHead = '[\n{"format":"keepup-session"'

/** Line breaks stand between records only: JSON has none inside of one. */
export async function* toJson(compressed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = Readable.from(compressed).compose(createGunzip()) as AsyncIterable<Buffer>
  let held = "[\n"
  for await (const chunk of gunzip) {
    // latin1: a byte stays a byte
    const text = held + chunk.toString("latin1").replaceAll("\n", ",\n")
    const isEnd = text.endsWith(",\n")
    yield Buffer.from(isEnd ? text.slice(0, -2) : text, "latin1")
    held = isEnd ? ",\n" : ""
  }
  yield Buffer.from("\n]\n")
}

async function* toLines(json: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held = ""
  let isFirst = true
  for await (const chunk of json) {
    const text = held + chunk.toString("latin1")
    // what may be the end, or half of a border, waits
    const whole = text.slice(0, -3)
    const from = isFirst && whole.startsWith("[\n") ? 2 : 0
    if (whole.length > 0) isFirst = false
    const isSplit = whole.endsWith(",")
    held = text.slice(isSplit ? -4 : -3)
    yield Buffer.from((isSplit ? whole.slice(0, -1) : whole).slice(from).replaceAll(",\n", "\n"), "latin1")
  }
  yield Buffer.from(held.replace(/\n\]\n$/, "\n"), "latin1")
}

/** Hands the document over as a file that import takes; errors speak of the document. */
export async function withCompressed<T>(path: string, folder: string, use: (path: string) => Promise<T>): Promise<T> {
  makeFolder(folder)
  const compressed = join(folder, `json-${randomBytes(8).toString("hex")}.keepup`)
  try {
    const lines = Readable.from(toLines(createReadStream(path)))
    await pipeline(lines, createGzip({ level: 1 }), createWriteStream(compressed, { flags: "wx", mode: 0o600 }))
    return await use(compressed)
  } catch (cause) {
    const { code, message, hint } = toKeepupError(cause)
    throw new KeepupError(code, message.replaceAll(compressed, path), { cause, ...(hint !== undefined && { hint }) })
  } finally {
    await unlink(compressed).catch(() => undefined) // it may never have been made
  }
}
