/**
 * Reads a file from its first byte to its last and proves it, before anything of it is taken in: the format, the limits,
 * every hash, every reference, the counts and the SHA-256 at its end. What it holds lies in the spool then.
 */
import { createHash, type Hash } from "node:crypto"
import type { ObjectType } from "../snapshot/git-objects.js"
import { createObjectCheck } from "../snapshot/transfer-objects.js"
import { createHistoryCheck, type HistoryFacts } from "./history-check.js"
import { bad, parseHeader, parseRecord } from "./parse-record.js"
import { type ReadLinesOptions, readLines } from "./read-lines.js"
import type { Spool, SpoolFile } from "./spool.js"
import {
  type ChunkRecord,
  type ContentRecord,
  type EndRecord,
  emptyCounts,
  type HeaderRecord,
  limits,
  type ObjectRecord,
  recordNames,
  type TransferCounts,
} from "./transfer-format.js"

/** Where bytes lie in a file of the spool. */
export interface StoredBytes {
  readonly offset: number
  readonly size: number
}

export interface StoredObject extends StoredBytes {
  readonly id: string
  readonly type: ObjectType
}

export interface VerifiedExport extends HistoryFacts {
  readonly header: HeaderRecord
  readonly counts: TransferCounts
  readonly contents: ReadonlyMap<string, StoredBytes>
  readonly objects: readonly StoredObject[]
}

/** Bytes that are coming in, until their size is reached. */
interface Incoming {
  readonly record: ContentRecord | ObjectRecord
  readonly file: SpoolFile
  readonly offset: number
  readonly hash: Hash
  left: number
}

const newLine = Buffer.from("\n")

export async function verifyExport(
  path: string,
  spool: Spool,
  options: ReadLinesOptions = {},
): Promise<VerifiedExport> {
  const counts = emptyCounts()
  const contents = new Map<string, StoredBytes>()
  const objects: StoredObject[] = []
  const objectCheck = createObjectCheck()
  const whole = createHash("sha256")
  let incoming: Incoming | undefined
  let end: EndRecord | undefined

  const lines = readLines(path, options)
  const first = await lines.next()
  const header = parseHeader(first.done === true ? undefined : first.value, path)
  whole.update(first.value as Buffer).update(newLine)
  const history = createHistoryCheck(header, (hash) => {
    const found = contents.get(hash)
    return found && { size: found.size, read: () => spool.contents.read(found.offset, found.size) }
  })

  function startBytes(record: ContentRecord | ObjectRecord): void {
    const isContent = record.record === "content"
    const file = isContent ? spool.contents : spool.objects
    const hash = isContent ? createHash("sha256") : createHash("sha1").update(`${record.type} ${record.sizeBytes}\0`)
    incoming = { record, file, offset: file.size, hash, left: record.sizeBytes }
    if (record.sizeBytes === 0) endBytes(incoming)
  }

  function addChunk(chunk: ChunkRecord): void {
    if (incoming === undefined) throw bad("A part belongs to nothing.")
    const bytes = "text" in chunk ? Buffer.from(chunk.text) : Buffer.from(chunk.base64, "base64")
    if (bytes.length === 0 || bytes.length > incoming.left) throw bad("A value has another size than it says.")
    incoming.file.append(bytes)
    incoming.hash.update(bytes)
    incoming.left -= bytes.length
    if (incoming.left === 0) endBytes(incoming)
  }

  function endBytes({ record, file, offset, hash }: Incoming): void {
    incoming = undefined
    const stored = { offset, size: record.sizeBytes }
    const found = hash.digest("hex")
    if (record.record === "content") {
      if (found !== record.hash) throw bad(`The value ${record.hash} has other content than its hash says.`)
      if (contents.has(record.hash)) throw bad(`The value ${record.hash} is there twice.`)
      contents.set(record.hash, stored)
      return
    }
    const { id, type } = record
    if (found !== id) throw bad(`The snapshot object ${id} has other content than its id says.`)
    objectCheck.add(type === "blob" ? { id, type } : { id, type, data: file.read(offset, stored.size) })
    objects.push({ id, type, ...stored })
  }

  for await (const line of lines) {
    if (end !== undefined) throw bad("Something follows the end.")
    const record = parseRecord(line)
    if (record.record === "end") {
      end = record
      continue
    }
    whole.update(line).update(newLine)
    if (record.record === "chunk") {
      addChunk(record)
      continue
    }
    if (incoming !== undefined) throw bad("A value is not complete.")
    if (++counts[record.record] > limits.counts[record.record]) {
      throw bad(`There are more than ${limits.counts[record.record]} records of the kind ${record.record}.`)
    }
    if (record.record === "content" || record.record === "object") startBytes(record)
    else {
      history.add(record)
      const file = record.record === "session" || record.record === "artifact" ? spool.heads : spool.records
      file.append(line)
      file.append(newLine)
    }
  }
  if (end === undefined || incoming !== undefined) throw bad(`${path} is cut off.`)
  if (whole.digest("hex") !== end.sha256) throw bad(`${path} does not have the content it was written with.`)
  const { counts: said } = end
  if (recordNames.some((name) => said[name] !== counts[name])) throw bad(`${path} does not hold what it counts.`)
  const facts = history.finish()
  for (const commit of facts.commits.values()) {
    if (!objectCheck.hasCommit(commit)) throw bad(`The snapshot ${commit} is missing.`)
  }
  return { ...facts, header, counts, contents, objects }
}
