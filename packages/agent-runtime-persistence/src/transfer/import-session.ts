/**
 * Takes an exported session in, under new ids. All or nothing: the whole file is proven first, then objects, refs and
 * contents are kept, then rows nobody sees, and one transaction makes them count. A file that is refused leaves nothing
 * behind; what a killed import leaves is never shown, and taken away by the next start.
 */
import { KeepupError, type Session, type SessionId } from "@ku0/agent-runtime-core"
import type { SnapshotObject } from "../snapshot/transfer-objects.js"
import type { StoreContext } from "../store/store-context.js"
import type { TransferContext } from "./export-work.js"
import { insertRecords, type StoredRecord } from "./insert-records.js"
import { createIdMap, type IdMap } from "./map-ids.js"
import type { ReadLinesOptions } from "./read-lines.js"
import { createSpool, readSpoolLines, type Spool } from "./spool.js"
import type { ArtifactRecord, SessionRecord, TransferCounts } from "./transfer-format.js"
import { type VerifiedExport, verifyExport } from "./verify-export.js"

export interface ImportSessionOptions extends ReadLinesOptions {
  readonly path: string
  /** The workspace the session belongs to from now on. Its files are not touched. */
  readonly workspacePath: string
  /** A folder of ours to unpack in, made if it is not there. */
  readonly workFolder: string
}

export interface ImportSessionResult {
  readonly session: Session
  readonly counts: TransferCounts
  /** Whether secrets were taken out when it was exported. */
  readonly redacted: boolean
}

export async function importSession(
  context: TransferContext,
  options: ImportSessionOptions,
): Promise<ImportSessionResult> {
  const spool = createSpool(options.workFolder)
  try {
    const verified = await verifyExport(options.path, spool, options)
    const { context: shared } = context.store
    const ids = createIdMap(shared.ids, new Set(listSessions(spool)))
    await keepContents(shared, verified, spool)
    const refs = new Map([...verified.commits].map(([id, commit]) => [ids.id(id), commit]))
    const keepFiles = async () => {
      if (refs.size === 0) return undefined
      return await (await openSnapshots(context, options)).importObjects(readObjects(verified, spool), refs)
    }
    const kept = await keepFiles()
    const session = await insert(context, verified, spool, ids, options).catch(async (error) => {
      await kept?.undo()
      throw error
    })
    // a `gc` that ran before the rows were there may have taken refs it did not know of
    if (refs.size > 0) {
      const there = (await openSnapshots(context, options)).listCheckpoints()
      if ([...refs.keys()].some((id) => !there.has(id))) await keepFiles()
    }
    return { session, counts: verified.counts, redacted: verified.header.redacted }
  } finally {
    spool.remove()
  }
}

async function openSnapshots({ snapshots }: TransferContext, { workspacePath }: ImportSessionOptions) {
  if (snapshots !== undefined) return await snapshots(workspacePath)
  throw new KeepupError("UNAVAILABLE", "The exported session has files, and there is no place for snapshots here.")
}

async function insert(
  { store }: TransferContext,
  verified: VerifiedExport,
  spool: Spool,
  ids: IdMap,
  options: ImportSessionOptions,
): Promise<Session> {
  const { context } = store
  const blobHashes = new Set(verified.stateHashes)
  if (context.artifactContent === undefined) for (const hash of verified.artifactHashes) blobHashes.add(hash)
  const [id] = await insertRecords(readRecords(spool), {
    context,
    ids,
    workspacePath: options.workspacePath,
    isShown: (old) => old === verified.header.sessionId,
    interruption: "It was in the middle of something when it was exported.",
    readContent: (hash) => readContent(verified, spool, hash),
    blobHashes,
  })
  return await store.sessions.get(id as SessionId)
}

/** Where the store keeps contents in files, they are there before a row names them. */
async function keepContents(context: StoreContext, verified: VerifiedExport, spool: Spool): Promise<void> {
  if (context.artifactContent === undefined) return
  for (const hash of verified.artifactHashes) await context.artifactContent.put(readContent(verified, spool, hash))
}

/** Artifacts before the entries that name them: only then it is known how they are called here. */
function* readRecords(spool: Spool): Generator<StoredRecord> {
  for (const file of [spool.heads, spool.records]) {
    for (const line of readSpoolLines(file)) yield JSON.parse(line) as StoredRecord
  }
}

function* listSessions(spool: Spool): Generator<string> {
  for (const line of readSpoolLines(spool.heads)) {
    const { record, id } = JSON.parse(line) as SessionRecord | ArtifactRecord
    if (record === "session") yield id
  }
}

function* readObjects({ objects }: VerifiedExport, spool: Spool): Generator<SnapshotObject> {
  for (const { id, type, offset, size } of objects) yield { id, type, data: spool.objects.read(offset, size) }
}

function readContent({ contents }: VerifiedExport, spool: Spool, hash: string): Buffer {
  const found = contents.get(hash)
  if (found === undefined) throw new Error(`BUG: the content ${hash} was verified and is not there`)
  return spool.contents.read(found.offset, found.size)
}
