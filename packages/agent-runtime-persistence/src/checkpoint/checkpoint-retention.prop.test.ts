import { type Checkpoint, checkpointTriggers } from "@ku0/agent-runtime-core"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { planPrune, type RetentionPolicy } from "./checkpoint-retention.js"

const day = 86_400_000
const now = 1_700_000_000_000

const shapes = fc.record({
  trigger: fc.constantFrom(...checkpointTriggers),
  name: fc.option(fc.string({ minLength: 1, maxLength: 3 })),
  pinned: fc.boolean(),
  ageMs: fc.oneof(fc.nat(20 * day), fc.constantFrom(0, 7 * day, 7 * day - 1)),
  sizeBytes: fc.nat(1_000),
  isBranchPoint: fc.boolean(),
  gap: fc.integer({ min: 1, max: 3 }),
})
const mostlyAutomatic = shapes.map((shape) => ({
  ...shape,
  name: shape.gap === 1 ? shape.name : null,
  pinned: shape.pinned && shape.gap === 1,
  isBranchPoint: shape.isBranchPoint && shape.gap === 1,
}))
const policies: fc.Arbitrary<RetentionPolicy> = fc.record(
  { keep: fc.nat(12), maxAgeMs: fc.nat(20 * day), maxTotalBytes: fc.nat(20_000) },
  { requiredKeys: ["keep"] },
)
const cases = fc.record({ shapes: fc.array(mostlyAutomatic, { maxLength: 40 }), policy: policies, order: fc.nat() })

function make(list: readonly (typeof mostlyAutomatic extends fc.Arbitrary<infer T> ? T : never)[], order: number) {
  let number = 0
  const checkpoints = list.map((shape) => {
    number += shape.gap
    const { trigger, name, pinned, sizeBytes } = shape
    return { id: `c${number}`, number, trigger, name, pinned, sizeBytes, createdAt: now - shape.ageMs } as Checkpoint
  })
  const branchPoints = new Set(checkpoints.filter((_, i) => list[i]?.isBranchPoint).map(({ id }) => id as string))
  const shuffled = checkpoints.toSorted((a, b) => ((a.number * 7919 + order) % 101) - ((b.number * 7919 + order) % 101))
  return { checkpoints, shuffled, branchPoints }
}

/** Law 12, said once more in other words. */
function mustStay(one: Checkpoint, all: readonly Checkpoint[], branchPoints: ReadonlySet<string>): boolean {
  const numbers = all.map(({ number }) => number)
  return (
    one.pinned ||
    one.name !== null ||
    one.trigger === "manual" ||
    branchPoints.has(one.id) ||
    one.number === Math.min(...numbers) ||
    one.number === Math.max(...numbers) ||
    (["before-restore", "session.started"].includes(one.trigger) && now - one.createdAt < 7 * day)
  )
}

describe("retention", () => {
  it("never removes what is pinned, named, manual, a branch point, the first, the newest, or a young safety", () => {
    fc.assert(
      fc.property(cases, ({ shapes: list, policy, order }) => {
        const { checkpoints, shuffled, branchPoints } = make(list, order)
        const gone = planPrune(shuffled, policy, { now, branchPoints })
        for (const one of gone) expect(mustStay(one, checkpoints, branchPoints), `#${one.number}`).toBe(false)
        expect(new Set(gone).size).toBe(gone.length)
        expect(gone).toEqual(gone.toSorted((a, b) => a.number - b.number))
      }),
      { numRuns: 1_000 },
    )
  })

  it("keeps the newest N automatic ones, all of them unless age or size say otherwise", () => {
    fc.assert(
      fc.property(cases, ({ shapes: list, policy, order }) => {
        const { checkpoints, shuffled, branchPoints } = make(list, order)
        const removable = checkpoints.filter((one) => !mustStay(one, checkpoints, branchPoints))
        const gone = planPrune(shuffled, { keep: policy.keep }, { now, branchPoints })
        expect(gone).toEqual(removable.slice(0, Math.max(0, removable.length - policy.keep)))
      }),
      { numRuns: 500 },
    )
  })

  it("leaves no automatic one over the age, and stays under the size wherever that is possible", () => {
    fc.assert(
      fc.property(cases, ({ shapes: list, policy, order }) => {
        const { checkpoints, shuffled, branchPoints } = make(list, order)
        const gone = new Set(planPrune(shuffled, policy, { now, branchPoints }))
        const left = checkpoints.filter((one) => !gone.has(one))
        const leftAutomatic = left.filter((one) => !mustStay(one, checkpoints, branchPoints))
        expect(leftAutomatic.length).toBeLessThanOrEqual(policy.keep)
        for (const one of leftAutomatic) {
          if (policy.maxAgeMs !== undefined) expect(now - one.createdAt).toBeLessThanOrEqual(policy.maxAgeMs)
        }
        const total = left.reduce((sum, one) => sum + one.sizeBytes, 0)
        if (policy.maxTotalBytes !== undefined && total > policy.maxTotalBytes) expect(leftAutomatic).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  it("has nothing more to say when its plan was carried out", () => {
    fc.assert(
      fc.property(cases, ({ shapes: list, policy, order }) => {
        const { shuffled, branchPoints } = make(list, order)
        const gone = new Set(planPrune(shuffled, policy, { now, branchPoints }))
        const left = shuffled.filter((one) => !gone.has(one))
        expect(planPrune(left, policy, { now, branchPoints })).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  it("lets several of the same moment go before one of another moment", () => {
    const moments = [1, 1, 2, 2, 2, 3, 4]
    const checkpoints = moments.map((messageIndex, i) => {
      const filesChanged = moments[i - 1] === messageIndex ? 0 : 1
      const facts = { trigger: "turn.ended", name: null, pinned: false, sizeBytes: 0, createdAt: now, messageIndex }
      return { id: `c${i + 1}`, number: i + 1, ...facts, snapshot: { filesChanged } } as unknown as Checkpoint
    })
    const gone = planPrune(checkpoints, { keep: 3 }, { now, branchPoints: new Set() })
    expect(gone.map(({ number }) => number)).toEqual([3, 4])
  })
})
