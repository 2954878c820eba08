import { expect, it } from "vitest"
import * as telemetry from "./index.js"

it("exports what the README names and nothing else", () => {
  expect(Object.keys(telemetry).sort()).toEqual([
    "createLogger",
    "createMetrics",
    "logLevels",
    "observeEvents",
    "parseLogLevel",
    "redactSecrets",
    "redactValue",
    "redactedMark",
    "silentLogger",
    "withSpan",
  ])
})
