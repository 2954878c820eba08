/**
 * Stages a restore as soon as its plan is known, while the safety snapshot is still on its way to the disk: nothing of
 * the user's is touched by that, and both wait for the same disk.
 */
import { abandonJournal, prepareJournal, type RestoreJournal } from "./restore-journal.js"
import type { RestoreWork } from "./restore-plan.js"
import { removeStaging, type StagedRestore, type StageOptions, stageRestore } from "./restore-stage.js"
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
  /** It has failed already. */
  readonly hasFailed: boolean
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
      const both = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal])
      const staged = stageRestore(environment, plan, { id, captured, signal: both })
      const now = { plan, stop, noted, staged, hasFailed: false }
      for (const promise of [noted, staged]) {
        promise.catch(() => {
          now.hasFailed = true // both are awaited when the restore is put on record
        })
      }
      begun = now
      return now
    },
    async giveUp() {
      if (begun === undefined) return
      const { stop, noted, staged } = begun
      begun = undefined
      stop.abort()
      await Promise.allSettled([staged, noted])
      try {
        removeStaging(environment, id)
        abandonJournal(store, id) // not before: who sweeps goes by it
      } catch {
        // It stays, and is swept later.
      }
    },
  }
}
