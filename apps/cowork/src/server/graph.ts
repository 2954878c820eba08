/** Links the checkpoints of a family: each to the one before it in its own history, across branches and restores. Pure. */
import type { CheckpointId, EntryRef, FamilyCheckpoint, FamilyMember, HistoryJump, SessionId } from "@ku0/agent-runtime"

export interface CheckpointLinks {
  /** The newest checkpoint in the history that leads to an entry. */
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
      const own = lastUpTo(member.checkpoints, seq, place === entry ? except : undefined)
      if (own !== undefined && own.seq >= (jump?.seq ?? 0)) {
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

/** The last item up to a `seq` in a list by `seq`, by halving; `except` steps over one checkpoint and what comes with it. */
function lastUpTo<Item extends { readonly seq: number }>(
  items: readonly Item[],
  seq: number,
  except?: CheckpointId,
): Item | undefined {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((items[middle] as Item).seq <= seq) low = middle + 1
    else high = middle
  }
  let at = low - 1
  if (except === undefined) return items[at]
  while (at >= 0 && (items[at] as Item & { id?: CheckpointId }).id !== except) at--
  return items[at - 1]
}
