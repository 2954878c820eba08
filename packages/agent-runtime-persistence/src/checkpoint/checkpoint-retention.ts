/**
 * Which checkpoints may go. Pure. Never one that is pinned, named, taken by hand, a branch point, a session's first or
 * newest, or younger than seven days and what someone had made before a restore or before the agent began; and never
 * the log.
 */
import type { Checkpoint } from "@ku0/agent-runtime-core"

export interface RetentionPolicy {
  /** How many automatic ones a session keeps. */
  readonly keep: number
  /** Automatic ones older than this go too. */
  readonly maxAgeMs?: number
  /** The oldest automatic ones go until the session's checkpoints are smaller than this. */
  readonly maxTotalBytes?: number
}

export const defaultRetention: RetentionPolicy = { keep: 10 }

const safetyMs = 7 * 86_400_000

/** The checkpoints of one session that may be removed, oldest first. `branchPoints` are ids other sessions came from. */
export function planPrune(
  checkpoints: readonly Checkpoint[],
  policy: RetentionPolicy,
  facts: { readonly now: number; readonly branchPoints: ReadonlySet<string> },
): Checkpoint[] {
  const byNumber = [...checkpoints].sort((a, b) => a.number - b.number)
  const ends = new Set([byNumber[0]?.id, byNumber.at(-1)?.id])
  const automatic = byNumber.filter((one) => !isProtected(one, facts) && !ends.has(one.id))
  const isRepeated = (one: Checkpoint) => isSamePlace(one, byNumber[byNumber.indexOf(one) + 1])
  const leastNeeded = [...automatic.filter(isRepeated), ...automatic.filter((one) => !isRepeated(one))]
  const excess = new Set(leastNeeded.slice(0, Math.max(0, automatic.length - policy.keep)))
  const { maxAgeMs, maxTotalBytes } = policy
  if (maxAgeMs !== undefined) {
    for (const one of automatic) if (facts.now - one.createdAt > maxAgeMs) excess.add(one)
  }
  if (maxTotalBytes !== undefined) {
    let total = byNumber.reduce((sum, one) => sum + (excess.has(one) ? 0 : one.sizeBytes), 0)
    for (const one of automatic) {
      if (total <= maxTotalBytes) break
      if (excess.has(one)) continue
      excess.add(one)
      total -= one.sizeBytes
    }
  }
  return automatic.filter((one) => excess.has(one))
}

/** The end of a turn, the end of its run, the exit: several of the same moment go before one of another moment does. */
function isSamePlace(one: Checkpoint, next: Checkpoint | undefined): boolean {
  if (next === undefined || next.messageIndex !== one.messageIndex) return false
  return one.snapshot === null ? next.snapshot === null : next.snapshot?.filesChanged === 0
}

function isProtected(checkpoint: Checkpoint, facts: { now: number; branchPoints: ReadonlySet<string> }): boolean {
  const { id, pinned, name, trigger, createdAt } = checkpoint
  if (pinned || name !== null || trigger === "manual" || facts.branchPoints.has(id)) return true
  const isSafety = trigger === "before-restore" || trigger === "session.started"
  return isSafety && facts.now - createdAt < safetyMs
}
