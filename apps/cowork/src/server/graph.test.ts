import type { CheckpointId, FamilyCheckpoint, FamilyMember, SessionId } from "@ku0/agent-runtime"
import { describe, expect, it } from "vitest"
import { linkCheckpoints } from "./graph.js"

function member(id: string, seqs: readonly number[], jumps: readonly [number, string, number][] = []): FamilyMember {
  const sessionId = id as SessionId
  return {
    id: sessionId,
    session: undefined,
    jumps: jumps.map(([seq, to, at]) => ({ seq, to: { sessionId: to as SessionId, seq: at } })),
    checkpoints: seqs.map((seq, i) => ({
      ...{ id: `${id}${seq}` as CheckpointId, sessionId, seq, number: i + 1, name: null, trigger: "manual" },
      ...{ messageIndex: 0, createdAt: seq, pinned: false, filesChanged: undefined },
    })),
  }
}

function keptBefore(one: FamilyMember, ...seqs: readonly number[]): FamilyMember {
  const mark = (checkpoint: FamilyCheckpoint): FamilyCheckpoint =>
    seqs.includes(checkpoint.seq) ? { ...checkpoint, trigger: "before-restore" } : checkpoint
  return { ...one, checkpoints: one.checkpoints.map(mark) }
}

function parents(family: readonly FamilyMember[]): Record<string, string | undefined> {
  const links = linkCheckpoints(family)
  const all: readonly FamilyCheckpoint[] = family.flatMap(({ checkpoints }) => checkpoints)
  return Object.fromEntries(all.map((one) => [one.id, links.parentOf(one)?.id]))
}

describe("the checkpoints of a family", () => {
  it("follow each other in one session", () => {
    expect(parents([member("a", [2, 5, 9])])).toEqual({ a2: undefined, a5: "a2", a9: "a5" })
  })

  it("go on from where a branch left, also through branches without checkpoints of their own", () => {
    const family = [member("a", [2, 5, 9]), member("b", [], [[1, "a", 6]]), member("c", [3], [[1, "b", 4]])]
    expect(parents(family)).toMatchObject({ c3: "a5" })
    expect(linkCheckpoints(family).newestAt({ sessionId: "b" as SessionId, seq: 8 })?.id).toBe("a5")
  })

  it("go on from where a restore went back to, and leave what came before it aside", () => {
    const family = [member("a", [2, 5, 9, 12], [[8, "a", 3]])]
    expect(parents(family)).toEqual({ a2: undefined, a5: "a2", a9: "a2", a12: "a9" })
  })

  it("kept before a restore are left aside by what came after it, in a branch and within a session", () => {
    const branch = keptBefore(member("b", [2, 8], [[1, "a", 5]]), 2)
    const family = [member("a", [2, 5, 9]), branch]
    expect(parents(family)).toMatchObject({ b2: "a5", b8: "a5" })
    const links = linkCheckpoints(family)
    expect(links.newestAt({ sessionId: "b" as SessionId, seq: 4 })?.id, "a fresh branch stands on its origin").toBe(
      "a5",
    )
    expect(parents([keptBefore(member("a", [2, 5, 9]), 5)])).toEqual({ a2: undefined, a5: "a2", a9: "a2" })
  })

  it("kept before a restore count once an undo went back to them", () => {
    const undone = member(
      "a",
      [2, 5, 8],
      [
        [6, "a", 2],
        [9, "a", 5],
      ],
    )
    const links = linkCheckpoints([keptBefore(undone, 5, 8)])
    expect(links.newestAt({ sessionId: "a" as SessionId, seq: 7 })?.id).toBe("a2")
    expect(links.newestAt({ sessionId: "a" as SessionId, seq: 10 })?.id).toBe("a5")
  })

  it("begin anew when what they came from is gone, and end when jumps lead in a circle", () => {
    expect(parents([member("b", [3], [[1, "lost", 6]])])).toEqual({ b3: undefined })
    const circle = [member("a", [9], [[1, "b", 1]]), member("b", [], [[1, "a", 1]])]
    expect(parents(circle)).toEqual({ a9: undefined })
  })

  it("are linked in reasonable time when one was restored very often", () => {
    const jumps = Array.from({ length: 20_000 }, (_, i): [number, string, number] => [i + 3, "a", i + 2])
    const last = 30_000
    const family = [member("a", [2, last], jumps)]
    expect(parents(family)).toMatchObject({ [`a${last}`]: "a2" })
  })
})
