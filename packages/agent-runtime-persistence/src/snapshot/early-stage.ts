/**
 * Stages a restore as soon as its plan is known, while the safety snapshot is still on its way to the disk: nothing of
 * the user's is touched by that, and both wait for the same disk.
 */
import { abandonJournal, prepareJournal, type RestoreJournal } from "./restore-journal.js"
import type { RestoreWork } from "./restore-plan.js"
import { type StagedRestore, type StageOptions, stageRestore } from "./restore-stage.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"

export interface EarlyStage {
  /** Begins with a plan, unless it has; only one at a time. */
  begin(plan: RestoreWork, captured?: StageOptions["captured"]): BegunStage
  /** Takes away what was begun, if anything was. Not after the note became the journal. */
  giveUp(): Promise<void>
}

export interface BegunStage {
  /** The note is on disk; it is no journal yet. */
  readonly noted: Promise<void>
  readonly staged: Promise<StagedRestore>
}

/** The caller holds the lock. `signal` stops it; who awaits `staged` is told. */
export function createEarlyStage(
  environment: SnapshotEnvironment,
  { id, paths, undoes, signal }: Pick<RestoreJournal, "id" | "paths" | "undoes"> & { readonly signal?: AbortSignal },
): EarlyStage {
  const { store, clock } = environment
  let begun: (BegunStage & { readonly plan: RestoreWork; readonly stop: AbortController }) | undefined
  return {
    begin(plan, captured) {
      if (begun?.plan === plan) return begun
      if (begun !== undefined) throw new Error("BUG: two plans of one restore are staged")
      const stop = new AbortController()
      const journal = { id, target: plan.target, safety: plan.safety, paths, undoes, startedAt: clock.now() }
      const noted = prepareJournal(store, journal) // there is a note before there is anything to sweep
      const both = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])])
      const staged = stageRestore(environment, plan, { id, captured, signal: both })
      begun = { plan, stop, noted, staged }
      for (const promise of [noted, staged]) promise.catch(() => {}) // awaited when the restore is put on record
      return begun
    },
    async giveUp() {
      if (begun === undefined) return
      const { stop, noted, staged } = begun
      begun = undefined
      stop.abort()
      await staged.then((one) => one.discard()).catch(() => {}) // what failed has left nothing
      await noted.catch(() => {})
      try {
        abandonJournal(store, id)
      } catch {
        // It stays, and is swept later.
      }
    },
  }
}
