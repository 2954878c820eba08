import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { checkpointTabs, formatRoute, parseRoute, type Route } from "./route.js"

const id = fc.string({ minLength: 1, unit: "grapheme" })
const maybe = fc.option(id, { nil: null })
const route: fc.Arbitrary<Route> = fc.oneof(
  fc.constant<Route>({ page: "sessions" }),
  fc.record({ page: fc.constant("session" as const), sessionId: id }),
  fc.record({
    page: fc.constant("checkpoint" as const),
    sessionId: id,
    checkpointId: id,
    tab: fc.constantFrom(...checkpointTabs),
    detail: maybe,
  }),
  fc.record({ page: fc.constant("compare" as const), sessionId: id, otherId: maybe }),
  fc.record({ page: fc.constant("replay" as const), sessionId: id, checkpointId: maybe }),
)

describe("a route", () => {
  it("comes back from its address, also with a path in it", () => {
    fc.assert(
      fc.property(route, (one) => {
        expect(parseRoute(formatRoute(one))).toEqual(one)
      }),
    )
    const file: Route = {
      page: "checkpoint",
      sessionId: "s",
      checkpointId: "c",
      tab: "files",
      detail: "src/ä <b>/x#y.ts",
    }
    expect(parseRoute(formatRoute(file))).toEqual(file)
  })

  it("shows the list for an empty address and the changes of a checkpoint unless told", () => {
    expect(parseRoute("")).toEqual({ page: "sessions" })
    expect(parseRoute("#/")).toEqual({ page: "sessions" })
    expect(parseRoute("#/sessions/s/checkpoints/c")).toMatchObject({ tab: "changes", detail: null })
  })

  it.each(["#/nonsense", "#/sessions/s/checkpoints/c/nonsense", "#/sessions/s/what", "#/sessions/%E0%A4%A", "#token"])(
    "says that %s leads nowhere",
    (hash) => expect(parseRoute(hash)).toMatchObject({ page: "unknown" }),
  )
})
