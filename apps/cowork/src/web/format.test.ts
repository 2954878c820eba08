import { describe, expect, it } from "vitest"
import { formatBytes, plural, shortId, timeAgo } from "./format.js"
import { describeEntry, describeHolder } from "./state/labels.js"

describe("words for figures", () => {
  it("say how long ago something was", () => {
    const now = new Date(2026, 5, 15, 12).getTime()
    const ago = (seconds: number) => timeAgo(now - seconds * 1_000, now)
    expect([ago(-5), ago(10), ago(90), ago(7_200), ago(90_000), ago(300_000)]).toEqual([
      "just now",
      "just now",
      "2 min ago",
      "2 h ago",
      "yesterday",
      "3 days ago",
    ])
    expect(ago(86_400 * 10)).toBe("2026-06-05")
  })

  it("say how much", () => {
    expect([0, 999, 1_000, 15_500, 999_600, 2_340_000].map(formatBytes)).toEqual([
      "0 B",
      "999 B",
      "1.0 KB",
      "16 KB",
      "1.0 MB",
      "2.3 MB",
    ])
    expect([plural(1, "file"), plural(12_000, "file"), plural(2, "branch", "branches")]).toEqual([
      "1 file",
      "12,000 files",
      "2 branches",
    ])
    expect(shortId("01a1e20a-7ef3-76bb-a72d-9bc139b8d4a8")).toBe("39b8d4a8")
  })

  it("say who holds a session, with the day if it was not today", () => {
    const since = new Date(2026, 5, 15, 9, 5, 1).getTime()
    const holder = { purpose: "run", pid: 7, host: "here", since }
    expect(describeHolder(holder, since + 1_000)).toBe("run (process 7 on here), since 09:05:01")
    expect(describeHolder(holder, since + 86_400_000)).toBe("run (process 7 on here), since 2026-06-15 09:05:01")
  })

  it("say what an entry is about, also one nobody knows", () => {
    expect(describeEntry({ type: "checkpoint:created", data: { number: 3, trigger: "manual", name: null } })).toBe(
      "#3 · manual",
    )
    expect(describeEntry({ type: "other:thing", data: { title: "a\nb\u202e", more: {} } })).toBe("a")
    expect(describeEntry({ type: "other:thing", data: null })).toBe("")
  })
})
