import { AsyncLocalStorage } from "node:async_hooks"
import { KeepupError } from "@ku0/agent-runtime-core"
import {
  type Attributes,
  type Context,
  type ContextManager,
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  type SpanStatus,
  type Tracer,
  trace,
} from "@opentelemetry/api"
import { afterEach, describe, expect, it } from "vitest"
import { type ActiveSpan, withSpan } from "./spans.js"

interface Recorded {
  readonly name: string
  readonly parent: string | undefined
  readonly attributes: Attributes
  status?: SpanStatus
  ended: number
}

/** As much of an SDK as the API asks for: it records spans and knows which one is active. */
function registerSdk(change: Partial<Span> = {}): Recorded[] {
  const spans: Recorded[] = []
  const names = new WeakMap<Span, string>()

  function startSpan(name: string, options: SpanOptions = {}, parent: Context = context.active()): Span {
    const parentSpan = trace.getSpan(parent)
    const recorded: Recorded = {
      name,
      parent: parentSpan && names.get(parentSpan),
      attributes: { ...options.attributes },
      ended: 0,
    }
    spans.push(recorded)
    const span = {
      setAttributes: (attributes: Attributes) => Object.assign(recorded.attributes, attributes),
      setStatus: (status: SpanStatus) => Object.assign(recorded, { status }),
      end: () => recorded.ended++,
      ...change,
    } as unknown as Span
    names.set(span, name)
    return span
  }

  const startActiveSpan = (name: string, options: SpanOptions, run: (span: Span) => unknown) => {
    const span = startSpan(name, options)
    return context.with(trace.setSpan(context.active(), span), () => run(span))
  }
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan }) as unknown as Tracer })
  context.setGlobalContextManager(createContextManager())
  return spans
}

function createContextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, run, self, ...args) => storage.run(active, () => run.apply(self as never, args)),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  return manager
}

afterEach(() => {
  trace.disable()
  context.disable()
})

describe("withSpan without an SDK", () => {
  it("is a plain call", async () => {
    expect(withSpan("a", {}, () => 1)).toBe(1)
    expect(await withSpan("a", {}, async (span) => span.set({ n: 1 }))).toBeUndefined()
    expect(() => withSpan("a", {}, () => fail("no"))).toThrow("no")
  })
})

describe("withSpan with an SDK", () => {
  it("makes a span that ends with the function, sync or async", async () => {
    const spans = registerSdk()
    expect(withSpan("sync", { path: "src/a.ts", count: 2 }, () => "done")).toBe("done")
    let finish = (_: string) => {}
    const running = withSpan("async", {}, () => new Promise<string>((resolve) => (finish = resolve)))
    expect(spans.map(({ ended }) => ended)).toEqual([1, 0])
    finish("later")
    expect(await running).toBe("later")
    expect(spans).toEqual([
      { name: "sync", parent: undefined, attributes: { path: "src/a.ts", count: 2 }, ended: 1 },
      { name: "async", parent: undefined, attributes: {}, ended: 1 },
    ])
  })

  it("nests, also after an await", async () => {
    const spans = registerSdk()
    await withSpan("outer", {}, async () => {
      await Promise.resolve()
      await withSpan("inner", {}, async () => undefined)
    })
    expect(spans.map(({ name, parent }) => [name, parent])).toEqual([
      ["outer", undefined],
      ["inner", "outer"],
    ])
  })

  it("marks a failure with its code or name and nothing of its message, and throws it unchanged", async () => {
    const spans = registerSdk()
    const known = new KeepupError("NOT_FOUND", "No session with prompt text in it.")
    expect(() => withSpan("sync", {}, () => fail(known))).toThrow(known)
    await expect(withSpan("async", {}, async () => fail(new RangeError("contents")))).rejects.toThrow("contents")
    expect(() => withSpan("odd", {}, () => fail("text"))).toThrow("text")
    expect(spans.map(({ status, attributes, ended }) => [status, attributes, ended])).toEqual([
      [{ code: 2, message: "NOT_FOUND" }, { "error.type": "NOT_FOUND" }, 1],
      [{ code: 2, message: "RangeError" }, { "error.type": "RangeError" }, 1],
      [{ code: 2, message: "string" }, { "error.type": "string" }, 1],
    ])
  })

  it("takes secrets out of attributes", () => {
    const spans = registerSdk()
    withSpan("open", { url: "postgres://app:hunter2@db/main" }, (span) => span.set({ other: "password=hunter2", n: 1 }))
    expect(spans[0]?.attributes).toEqual({
      url: "postgres://app:[REDACTED]@db/main",
      other: "password=[REDACTED]",
      n: 1,
    })
  })

  it("runs the function exactly once when the tracer fails", () => {
    let runs = 0
    registerSdk({ end: () => fail("exporter"), setAttributes: () => fail("exporter") })
    const runOnce = (span: ActiveSpan) => {
      span.set({ n: 1 })
      return ++runs
    }
    expect(withSpan("a", {}, runOnce)).toBe(1)
    trace.disable()
    trace.setGlobalTracerProvider({ getTracer: () => fail("no tracer") })
    expect(withSpan("a", {}, runOnce)).toBe(2)
    trace.disable()
    const late = {
      startActiveSpan(_: string, __: unknown, run: (span: object) => void) {
        run({})
        fail("late")
      },
    }
    trace.setGlobalTracerProvider({ getTracer: () => late as unknown as Tracer })
    expect(withSpan("a", {}, runOnce)).toBe(3)
  })
})

it("loads no part of the OpenTelemetry API", async () => {
  const { readFile } = await import("node:fs/promises")
  expect(await readFile(new URL("./spans.ts", import.meta.url), "utf8")).not.toContain("@opentelemetry")
})

function fail(error: unknown): never {
  throw error
}
