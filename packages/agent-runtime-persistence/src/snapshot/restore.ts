/**
 * Restores as a transaction on files: verify that all content is there, take a safety snapshot, note the intent, write,
 * verify. Broken off at any point, it can be finished or taken back.
 */
import { KeepupError, type Snapshot } from "@ku0/agent-runtime-core"
import { type BytePath, displayPath } from "./byte-path.js"
import type { FoundSnapshot } from "./capture.js"
import { createEarlyStage, type EarlyStage } from "./early-stage.js"
import { permissionsOf } from "./file-stat.js"
import { createHeldFiles } from "./held-files.js"
import { isPrivateMode } from "./private-files.js"
import { type AppliedRestore, applyStaged, type RestoreWatch } from "./restore-apply.js"
import { dropJournal, placeJournal, type RestoreJournal, removeJournal } from "./restore-journal.js"
import { type PlanOptions, planRestoreWork, type RestoreWork } from "./restore-plan.js"
import { removeStaging, type StagedRestore, stageRestore, sweepStaging } from "./restore-stage.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import { findCommit, type StoreSession } from "./store-session.js"

export interface RestoreOptions {
  /** Only these files and folders. */
  readonly paths?: readonly string[]
  /** Refuse paths that neither the snapshot nor the workspace has. */
  readonly requirePaths?: boolean
  /** The ref that keeps the safety snapshot is made from it. */
  readonly safetyCheckpointId?: string
  /** False: trust the watcher for the safety snapshot. Every file the restore touches is still checked. Default true. */
  readonly exact?: boolean
  readonly message?: string
  /** The commit whose restore this one undoes. */
  readonly undoes?: string
  /** Only to show the plan: the safety snapshot is not kept. */
  readonly temporary?: boolean
  /** Stops it as long as nothing was touched, and the reason is thrown. */
  readonly signal?: AbortSignal
}

/** Steps of a larger transaction around the files. They run under the store's lock; if one throws, the restore stops there. */
export interface RestoreHooks {
  /** Told what the safety snapshot is as soon as that is known, while the disk is at work. Must not throw. */
  readonly onFound?: (found: FoundSnapshot) => void
  /** The plan and the safety snapshot are there, nothing was touched yet. */
  readonly onPrepared?: (prepared: PreparedRestore) => Promise<void>
  /** All files were written and verified; the note of the restore is still on disk, so a crash in here is settled later. */
  readonly onApplied?: (outcome: RestoreOutcome) => Promise<void>
}

export interface PreparedRestore {
  readonly plan: RestoreWork
  readonly safety: Snapshot
}

export interface RestoreOutcome extends AppliedRestore {
  readonly plan: RestoreWork
  readonly safety: Snapshot
}

/**
 * One restore from the first look to the last. What the plan needs is staged while the safety snapshot and the record of
 * the restore are on their way to the disk. The caller holds the lock.
 */
export async function restoreSnapshot(
  session: StoreSession,
  commit: string,
  options: RestoreOptions & RestoreHooks & { readonly id: string },
): Promise<RestoreOutcome> {
  const stage = createEarlyStage(session.environment, options)
  try {
    const prepared = await prepareRestore(session, commit, { ...options, stage })
    // What could not be staged early may be possible now: the safety snapshot may have brought back what was lost.
    if (stage.begin(prepared.plan).hasFailed) await stage.giveUp()
    const begun = stage.begin(prepared.plan)
    for (const end of await Promise.allSettled([options.onPrepared?.(prepared), begun.noted])) {
      if (end.status === "rejected") throw end.reason
    }
    return await applyRestore(session, prepared, begun.staged, options)
  } catch (error) {
    await stage.giveUp()
    throw error
  }
}

/** Takes the safety snapshot and works out the plan. Changes nothing in the workspace. The caller holds the lock. */
export async function prepareRestore(
  session: StoreSession,
  commit: string,
  options: RestoreOptions &
    Pick<PlanOptions, "between"> &
    Pick<RestoreHooks, "onFound"> & { readonly stage?: EarlyStage },
): Promise<PreparedRestore> {
  const { environment } = session
  const { stage } = options
  sweepStaging(environment)
  const target = await findCommit(environment, commit)
  const makePlan = (safety: string) => planRestoreWork(environment, { ...options, target, safety })
  const prepare = async (exact: boolean | undefined, alsoCapture: BytePath[]) => {
    const early: { plan?: Promise<RestoreWork | undefined> } = {}
    const planEarly = async ({ commit, seen }: FoundSnapshot) => {
      await stage?.giveUp() // of a snapshot that had to be taken again
      const plan = await makePlan(commit)
      stage?.begin(plan, seen)
      return plan
    }
    const onFound = (found: FoundSnapshot) => {
      options.onFound?.(found)
      early.plan = planEarly(found).catch(() => undefined) // made again when all of it is on disk
    }
    try {
      const exactly = exact !== undefined && { exact }
      const safety = await takeSafety(session, { ...options, ...exactly, onFound }, alsoCapture)
      const plan = await early.plan
      if (plan === undefined) await stage?.giveUp()
      return { safety, plan: plan ?? (await makePlan(safety.commit)) }
    } finally {
      await early.plan // it needs the lock, also when there is nothing to plan any more
    }
  }
  let prepared = await prepare(options.exact, [])
  // Files that are there, but that a rule keeps out of snapshots, must be held too before they are overwritten.
  const strangers = prepared.plan.writes.filter(
    ({ path, before }) => before === undefined && isThere(environment, path),
  )
  const unheld = [...strangers, ...listUnknown(environment, prepared.plan)].map(({ path }) => path)
  if (unheld.length > 0) {
    await stage?.giveUp()
    prepared = await prepare(false, unheld)
  }
  environment.reader.refill()
  await verifyObjects(environment, prepared.plan)
  return prepared
}

/** Writes the files of a plan that is on record. The caller has held the lock since the plan was made. */
async function applyRestore(
  session: StoreSession,
  { plan, safety }: PreparedRestore,
  staged: Promise<StagedRestore>,
  { id, signal, onApplied }: RestoreOptions & RestoreHooks & { readonly id: string },
): Promise<RestoreOutcome> {
  const { store, step } = session.environment
  const noted = placeJournal(store, id)
  step("restore:noted")
  let isTouched = false
  const onTouch = () => {
    isTouched = true
  }
  const held = createHeldFiles()
  try {
    const applied = await applyNoted(session, plan, staged, noted, { onTouch, signal, held }).catch((error) => {
      if (!isTouched) removeJournal(store, id, held) // nothing was changed: there is nothing to finish
      throw error
    })
    await onApplied?.({ ...applied, plan, safety })
    const remove = onApplied === undefined ? removeJournal : dropJournal
    remove(store, id, held)
    return { ...applied, plan, safety }
  } finally {
    held.letGo()
  }
}

/** `noted` resolves when the note is on disk. */
async function applyNoted(
  session: StoreSession,
  plan: RestoreWork,
  staging: Promise<StagedRestore>,
  noted: Promise<void>,
  watch: RestoreWatch,
): Promise<AppliedRestore> {
  noted.catch(() => {}) // it is awaited when all is staged, which may fail before
  session.touch([...plan.writes, ...plan.deletes].map(({ path }) => path))
  session.touch([...plan.makeFolders, ...plan.removeFolders])
  return await applyStaged(session.environment, await staging, noted, watch)
}

/**
 * Finishes a broken-off restore (to its target) or takes it back (to its safety snapshot). The caller holds the lock.
 * The first note stays until all is done: broken off again, it is settled the same way.
 */
export async function settleRestore(
  session: StoreSession,
  journal: RestoreJournal,
  to: "target" | "safety",
  hooks: RestoreHooks = {},
): Promise<RestoreOutcome> {
  const { environment } = session
  removeStaging(environment, journal.id)
  const undoes = to === "safety" ? journal.target : journal.undoes
  const prepared = await prepareRestore(session, journal[to], {
    message: `before a broken-off restore is ${to === "target" ? "finished" : "taken back"}`,
    safetyCheckpointId: `restore-${journal.id}`,
    between: [journal.safety, journal.target],
    ...(undoes === undefined ? {} : { undoes }),
    ...(journal.paths === undefined ? {} : { paths: journal.paths }),
  })
  const held = createHeldFiles()
  try {
    const staging = stageRestore(environment, prepared.plan, { id: journal.id })
    const applied = await applyNoted(session, prepared.plan, staging, Promise.resolve(), { held })
    await hooks.onApplied?.({ ...applied, ...prepared })
    removeJournal(environment.store, journal.id, held)
    return { ...applied, ...prepared }
  } finally {
    held.letGo()
  }
}

async function takeSafety(
  session: StoreSession,
  options: RestoreOptions & Pick<RestoreHooks, "onFound">,
  alsoCapture: BytePath[],
): Promise<Snapshot> {
  const snapshot = await session.captureLocked({
    message: options.message ?? "before restore",
    exact: options.exact ?? true,
    alsoCapture,
    allowEmpty: true,
    share: true,
    temporary: options.temporary ?? false,
    timeBudgetMs: Number.POSITIVE_INFINITY,
    ...(options.onFound && { onFound: options.onFound }),
    ...(options.signal && { signal: options.signal }),
    ...(options.exact === false && session.watcher === undefined ? { hints: alsoCapture } : {}),
    ...(options.safetyCheckpointId === undefined ? {} : { checkpointId: options.safetyCheckpointId }),
  })
  return snapshot as Snapshot
}

function isThere({ files }: SnapshotEnvironment, path: BytePath): boolean {
  const { kind } = files.look(path)
  return kind === "file" || kind === "skipped"
}

/** Files that would go and of which the safety snapshot does not know whether they are private: nobody looked at them. */
function listUnknown({ files }: SnapshotEnvironment, { writes, deletes }: RestoreWork) {
  const replaced = writes.filter(({ entry, before }) => before !== undefined && entry.mode === "120000")
  return [...deletes, ...replaced].filter(({ path, wasPrivate }) => {
    const found = files.look(path)
    const permissions = found.kind === "file" ? permissionsOf(found.stat) : undefined
    return permissions !== undefined && isPrivateMode(permissions) !== wasPrivate
  })
}

/** A restore that would fail half way must not start. */
async function verifyObjects({ reader }: SnapshotEnvironment, plan: RestoreWork): Promise<void> {
  if (plan.writes.length === 0) return
  const found = await reader.describe(plan.writes.map(({ entry }) => entry.id))
  const missing = plan.writes.filter((_, i) => found[i]?.type !== "blob").map(({ path }) => displayPath(path))
  if (missing.length === 0) return
  throw new KeepupError(
    "CORRUPT",
    `The snapshot has lost the content of ${missing.length} file(s): ${missing.slice(0, 3).join(", ")}.`,
    {
      hint: "Nothing was changed. Repair the snapshot store, or restore other paths.",
      details: { missing },
    },
  )
}
