/** The lines of a gzip'd file, as they come, within limits: a bomb is refused before it can unfold. */
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { pipeline } from "node:stream"
import { createGunzip } from "node:zlib"
import { isKeepupError, KeepupError } from "@ku0/agent-runtime-core"
import { defaultMaxBytes, limits } from "./transfer-format.js"

export interface ReadLinesOptions {
  /** Bytes the file may unfold to; by its size unless told. */
  readonly maxBytes?: number
  readonly signal?: AbortSignal
  /** Bytes of the file read so far, of how many. Must not throw. */
  readonly onProgress?: (done: number, total: number) => void
}

export async function* readLines(path: string, options: ReadLinesOptions = {}): AsyncGenerator<Buffer> {
  const size = await sizeOf(path)
  const maxBytes = options.maxBytes ?? defaultMaxBytes(size)
  const gunzip = createGunzip()
  // a failure of the file reaches the reader of the gunzip
  const file = createReadStream(path)
  pipeline(file, gunzip, () => undefined)
  let total = 0
  let rest: Buffer[] = []
  let restBytes = 0
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      options.signal?.throwIfAborted()
      total += chunk.length
      options.onProgress?.(file.bytesRead, size)
      if (total > maxBytes) throw refused(path, `unfolds to more than ${maxBytes} bytes`, "Allow more if you trust it.")
      let from = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        rest.push(chunk.subarray(from, end))
        yield rest.length === 1 ? (rest[0] as Buffer) : Buffer.concat(rest)
        rest = []
        restBytes = 0
        from = end + 1
      }
      if (from < chunk.length) rest.push(chunk.subarray(from))
      restBytes += chunk.length - from
      if (restBytes > limits.lineBytes) throw refused(path, `has a line of more than ${limits.lineBytes} bytes`)
    }
  } catch (error) {
    throw explain(path, error)
  } finally {
    gunzip.destroy()
  }
  if (restBytes > 0) throw refused(path, "ends in the middle of a line")
}

async function sizeOf(path: string): Promise<number> {
  try {
    const found = await stat(path)
    if (found.isFile() && found.size > 0) return found.size
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT"
    throw new KeepupError(isMissing ? "NOT_FOUND" : "UNAVAILABLE", `${path} can't be read.`, { cause })
  }
  throw new KeepupError("INVALID_INPUT", `${path} is not a file with something in it.`)
}

function refused(path: string, what: string, hint?: string): KeepupError {
  return new KeepupError("CORRUPT", `${path} ${what}. Nothing was imported.`, hint === undefined ? {} : { hint })
}

function explain(path: string, error: unknown): unknown {
  if (isKeepupError(error)) return error
  const { code, name } = error as NodeJS.ErrnoException
  if (name === "AbortError") return new KeepupError("CANCELLED", "The import was stopped.", { cause: error })
  if (code === "Z_BUF_ERROR") return refused(path, "is cut off")
  if (code === "Z_DATA_ERROR") {
    const isOther = /header/.test((error as Error).message)
    if (!isOther) return refused(path, "is damaged")
    return new KeepupError("INVALID_INPUT", `${path} is not an exported session.`, { cause: error })
  }
  return new KeepupError("UNAVAILABLE", `${path} can't be read (${(error as Error).message}).`, { cause: error })
}
