/** Values by their content: what is there already costs nothing. Large ones are compressed, with the codec recorded. */
import { KeepupError } from "@ku0/agent-runtime-core"
import { sha256 } from "../store/lazy-crypto.js"
import type { SqlRow, SqlRunner } from "../store/sql-driver.js"

type Zlib = typeof import("node:zlib") & {
  zstdCompressSync?: (data: Uint8Array) => Buffer
  zstdDecompressSync?: (data: Uint8Array, options?: object) => Buffer
}

export type BlobCodec = "raw" | "gzip" | "zstd"

export interface EncodedBlob {
  readonly hash: string
  readonly codec: BlobCodec
  readonly sizeBytes: number
  readonly data: Uint8Array
}

/** Values over this many bytes are compressed. */
export const compressOver = 1_000_000

/** Names and, if it is large, compresses a value. */
export async function encodeBlob(value: Uint8Array): Promise<EncodedBlob> {
  const hash = sha256(value)
  const sizeBytes = value.byteLength
  if (sizeBytes <= compressOver) return { hash, codec: "raw", sizeBytes, data: value }
  const zlib = await loadZlib()
  if (zlib.zstdCompressSync) return { hash, codec: "zstd", sizeBytes, data: zlib.zstdCompressSync(value) }
  return { hash, codec: "gzip", sizeBytes, data: zlib.gzipSync(value) }
}

/** Keeps a value. One that is there already is touched, so that a concurrent `gc` leaves it alone. */
export async function putBlob(tx: SqlRunner, blob: EncodedBlob, now: number): Promise<void> {
  await tx.run(
    `INSERT INTO blobs (hash, codec, size_bytes, data, created_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (hash) DO UPDATE SET created_at = excluded.created_at`,
    [blob.hash, blob.codec, blob.sizeBytes, blob.data, now],
  )
}

/** Reads a value and proves that it is what its name says. */
export async function readBlob(runner: SqlRunner, hash: string): Promise<Uint8Array> {
  const row = await runner.get("SELECT codec, data FROM blobs WHERE hash = ?", [hash])
  if (row === undefined) throw corrupt(hash, "is missing")
  const value = await decode(row, hash)
  if (sha256(value) !== hash) throw corrupt(hash, "has other content than its name says")
  return value
}

async function decode(row: SqlRow, hash: string): Promise<Uint8Array> {
  const data = row["data"] as Uint8Array
  if (row["codec"] === "raw") return data
  const zlib = await loadZlib()
  try {
    if (row["codec"] === "gzip") return zlib.gunzipSync(data)
    if (row["codec"] === "zstd" && zlib.zstdDecompressSync) return zlib.zstdDecompressSync(data)
  } catch (cause) {
    throw corrupt(hash, "can't be decompressed", cause)
  }
  throw new KeepupError(
    "UNAVAILABLE",
    `The value ${hash} is compressed with ${row["codec"]}, which this Node can't read.`,
    {
      hint: "Use Node 22.15 or newer to read it.",
    },
  )
}

function corrupt(hash: string, what: string, cause?: unknown): KeepupError {
  return new KeepupError("CORRUPT", `The stored value ${hash} ${what}.`, {
    hint: "Run `keepup doctor` to see what is affected.",
    details: { hash },
    cause,
  })
}

async function loadZlib(): Promise<Zlib> {
  return (await import("node:zlib")) as Zlib
}
