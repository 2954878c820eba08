/**
 * Links the checkpoints of a family: each to the one before it in its own history, across branches and restores. Pure.
 * One taken before a restore holds what was there before it, not what its session went on with: it counts only where a
 * history goes on from it, as after an undo.
 */
import type { CheckpointId, EntryRef, FamilyCheckpoint, FamilyMember, HistoryJump, SessionId } from "@ku0/agent-runtime"

export interface CheckpointLinks {
  /** The checkpoint a history stands on at an entry: the newest one that leads to it. */
  newestAt(entry: EntryRef): FamilyCheckpoint | undefined
  parentOf(checkpoint: FamilyCheckpoint): FamilyCheckpoint | undefined
}

export function linkCheckpoints(family: readonly FamilyMember[]): CheckpointLinks {
  const members = new Map<SessionId, FamilyMember>(family.map((member) => [member.id, member]))
  /** What the history before a jump leads to; the same for all checkpoints behind it. */
  const beforeJump = new Map<string, FamilyCheckpoint | undefined>()

  function newestAt(entry: EntryRef, except?: CheckpointId): FamilyCheckpoint | undefined {
    const passed = new Set<string>()
    let found: FamilyCheckpoint | undefined
    let place: EntryRef | undefined = entry
    while (place !== undefined) {
      const { sessionId, seq } = place as EntryRef
      const member = members.get(sessionId)
      if (member === undefined) break
      const jump: HistoryJump | undefined = lastUpTo(member.jumps, seq)
      const own = lastHeld(member.checkpoints, seq, jump?.seq ?? 0, place === entry ? except : undefined)
      if (own !== undefined) {
        found = own
        break
      }
      if (jump === undefined) break
      const key = `${sessionId} ${jump.seq}`
      if (beforeJump.has(key)) {
        found = beforeJump.get(key)
        break
      }
      if (passed.has(key)) break
      passed.add(key)
      place = jump.to
    }
    for (const key of passed) beforeJump.set(key, found)
    return found
  }

  return {
    newestAt: (entry) => newestAt(entry),
    parentOf: ({ id, sessionId, seq }) => newestAt({ sessionId, seq }, id),
  }
}

/** The last checkpoint between two places that the history went on with; `except` is not one of them. */
function lastHeld(
  checkpoints: readonly FamilyCheckpoint[],
  seq: number,
  from: number,
  except?: CheckpointId,
): FamilyCheckpoint | undefined {
  for (let at = indexUpTo(checkpoints, seq); at >= 0; at--) {
    const one = checkpoints[at] as FamilyCheckpoint
    if (one.seq < from) return undefined
    if (one.id !== except && (one.trigger !== "before-restore" || one.seq === seq)) return one
  }
  return undefined
}

function lastUpTo<Item extends { readonly seq: number }>(items: readonly Item[], seq: number): Item | undefined {
  return items[indexUpTo(items, seq)]
}

/** Where the last item up to a `seq` is in a list by `seq`, by halving; -1 if there is none. */
function indexUpTo(items: readonly { readonly seq: number }[], seq: number): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((items[middle] as { readonly seq: number }).seq <= seq) low = middle + 1
    else high = middle
  }
  return low - 1
}
