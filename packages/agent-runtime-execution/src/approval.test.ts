import { describe, expect, test } from "vitest"
import { createApproval } from "./approval.js"
import { compileGlob } from "./glob.js"

const request = (name: string, targets: string[] = [], hasEffects = true) => ({
  callId: "c",
  name,
  arguments: {},
  hasEffects,
  targets,
})

describe("approval", () => {
  test.each(["ask", "auto", "deny"] as const)("mode %s is about tools with effects only", (mode) => {
    const approval = createApproval({ mode })
    expect(approval.decide(request("write"))).toBe(mode)
    expect(approval.decide(request("read", [], false))).toBe("auto")
  })

  test("the first rule that fits decides, by tool and by path", () => {
    const approval = createApproval({
      mode: "ask",
      rules: [
        { tool: "*", path: "secret/**", decision: "deny" },
        { tool: "write", path: "docs/**", decision: "auto" },
        { tool: "shell", decision: "deny" },
      ],
    })
    expect(approval.decide(request("write", ["docs/a.md"]))).toBe("auto")
    expect(approval.decide(request("write", ["src/a.ts"]))).toBe("ask")
    expect(approval.decide(request("write"))).toBe("ask")
    expect(approval.decide(request("read", ["secret/key"], false))).toBe("deny")
    expect(approval.decide(request("shell", ["docs"]))).toBe("deny")
    expect([approval.isVisible("search", "secret/key"), approval.isVisible("search", "a")]).toEqual([false, true])
  })

  test("of several places the strictest counts", () => {
    const approval = createApproval({ mode: "auto", rules: [{ tool: "*", path: "b", decision: "ask" }] })
    expect(approval.decide(request("edit", ["a", "b"]))).toBe("ask")
  })

  test("asks whoever is there", async () => {
    const { signal } = new AbortController()
    const approval = createApproval({ mode: "ask", ask: async ({ name }) => ({ isAllowed: name === "a" }) })
    expect(await approval.ask(request("a"), signal)).toEqual({ isAllowed: true })
    expect((await createApproval({ mode: "ask" }).ask(request("a"), signal)).isAllowed).toBe(false)
  })
})

describe("a glob", () => {
  test.each([
    ["*.ts", ["a.ts", "x/y/a.ts"], ["a.tsx", "a.ts2", "ts"]],
    ["src/*.ts", ["src/a.ts"], ["src/x/a.ts", "a.ts", "xsrc/a.ts"]],
    ["src/**", ["src", "src/a", "src/x/y"], ["srcs/a", "x/src/a"]],
    ["src/**/*.ts", ["src/a.ts", "src/x/y/a.ts"], ["src/a.js"]],
    ["src", ["src", "src/a", "x/src/a"], ["srcs"]],
    ["./src/", ["src/a"], ["a"]],
    ["**", ["a", "a/b"], []],
    ["**/.env", [".env", "x/.env"], ["x.env"]],
    ["a?.{ts,js}", ["ab.ts", "ab.js"], ["a.ts", "a/.ts", "ab.md"]],
    ["a+(b)[c].$x^|-\\d", ["a+(b)[c].$x^|-\\d"], ["aab"]],
    ["{a", ["{a"], ["a"]],
    ["a,b}", ["a,b}"], ["a"]],
    ["ü?", ["ü€"], ["ü"]],
  ])("%s", (glob, fits, not) => {
    const isFit = compileGlob(glob)
    expect(fits.filter((path) => !isFit(path))).toEqual([])
    expect(not.filter((path) => isFit(path))).toEqual([])
  })
})
