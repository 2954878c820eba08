import { describe, expect, it } from "vitest"
import {
  type ConfigKey,
  configKeys,
  configRules,
  environmentName,
  parseConfigValue,
  parseDuration,
  resolveConfig,
} from "./config.js"

const refused = expect.objectContaining({ code: "INVALID_INPUT" })
const settingOf = (key: ConfigKey, options: Parameters<typeof resolveConfig>[0]) => {
  const { config, settings } = resolveConfig(options)
  const source = settings.find((setting) => setting.key === key)?.source
  return [config[key], source]
}

describe("settings", () => {
  it("have the defaults of the contract when nothing is said", () => {
    const { config, settings } = resolveConfig()
    expect(config).toEqual({
      storage: "user",
      "checkpoint.on": [
        "run.ended",
        "negotiation.resolved",
        "phase.ended",
        "turn.ended",
        "task.completed",
        "agent.spawned",
      ],
      "checkpoint.interval": 30_000,
      "checkpoint.retention": 10,
      "capture.include": [],
      "capture.maxFileSize": 52_428_800,
      "handoff.path": "",
      model: "",
      approval: "ask",
      "approval.rules": [],
    })
    expect(settings.map(({ source }) => source)).toEqual(configKeys.map(() => "default"))
    expect(Object.isFrozen(config)).toBe(true)
  })

  it("come from flags before variables before the workspace before the user", () => {
    const all = {
      flags: { "checkpoint.retention": 1 },
      environment: { KEEPUP_CHECKPOINT_RETENTION: "2" },
      workspaceFile: { checkpoint: { retention: 3 } },
      userFile: { "checkpoint.retention": 4 },
    }
    const { flags, environment, workspaceFile, userFile } = all
    expect(settingOf("checkpoint.retention", all)).toEqual([1, "flag"])
    expect(settingOf("checkpoint.retention", { environment, workspaceFile, userFile })).toEqual([2, "environment"])
    expect(settingOf("checkpoint.retention", { workspaceFile, userFile })).toEqual([3, "workspace"])
    expect(settingOf("checkpoint.retention", { userFile })).toEqual([4, "user"])
    expect(settingOf("checkpoint.retention", {})).toEqual([10, "default"])
    expect(settingOf("checkpoint.interval", { flags })).toEqual([30_000, "default"])
  })

  it("have a variable each", () => {
    expect(Object.fromEntries(configKeys.map((key) => [key, environmentName(key)]))).toEqual({
      storage: "KEEPUP_STORAGE",
      "checkpoint.on": "KEEPUP_CHECKPOINT_ON",
      "checkpoint.interval": "KEEPUP_CHECKPOINT_INTERVAL",
      "checkpoint.retention": "KEEPUP_CHECKPOINT_RETENTION",
      "capture.include": "KEEPUP_CAPTURE_INCLUDE",
      "capture.maxFileSize": "KEEPUP_CAPTURE_MAX_FILE_SIZE",
      "handoff.path": "KEEPUP_HANDOFF_PATH",
      model: "KEEPUP_MODEL",
      approval: "KEEPUP_APPROVAL",
      "approval.rules": "KEEPUP_APPROVAL_RULES",
    })
  })

  it("say the same whether a file is nested or flat", () => {
    const nested = { capture: { include: [".env"], maxFileSize: "1MB" }, handoff: { path: "H.md" } }
    const flat = { "capture.include": [".env"], "capture.maxFileSize": 1_048_576, "handoff.path": "H.md" }
    expect(resolveConfig({ workspaceFile: nested }).config).toEqual(resolveConfig({ workspaceFile: flat }).config)
    expect(resolveConfig({ userFile: null }).config).toEqual(resolveConfig().config)
  })

  it.each<[ConfigKey, unknown, unknown]>([
    ["storage", "project", "project"],
    ["approval", "auto", "auto"],
    ["approval.rules", "deny * secrets/**, ask run_command", ["deny * secrets/**", "ask run_command"]],
    ["model", "openai/gpt", "openai/gpt"],
    ["handoff.path", ".agents/{branch}.md", ".agents/{branch}.md"],
    ["checkpoint.on", "run.ended, phase.ended ,", ["run.ended", "phase.ended"]],
    ["checkpoint.on", [], []],
    ["checkpoint.on", "", []],
    ["capture.include", [".env", "dist/**"], [".env", "dist/**"]],
    ["checkpoint.retention", "0", 0],
    ["checkpoint.retention", 25, 25],
    ["checkpoint.interval", "45s", 45_000],
    ["checkpoint.interval", "250ms", 250],
    ["checkpoint.interval", "2m", 120_000],
    ["checkpoint.interval", "1h", 3_600_000],
    ["checkpoint.interval", 5, 5],
    ["capture.maxFileSize", "512KB", 524_288],
    ["capture.maxFileSize", "2 gb", 2_147_483_648],
    ["capture.maxFileSize", "100", 100],
  ])("%s takes %j", (key, given, value) => {
    expect(parseConfigValue(key, given)).toEqual(value)
  })

  it.each<[ConfigKey, unknown]>([
    ["storage", "cloud"],
    ["storage", 1],
    ["approval", ""],
    ["approval.rules", "forbid write_file"],
    ["approval.rules", ["deny"]],
    ["model", 7],
    ["handoff.path", null],
    ["checkpoint.on", 7],
    ["checkpoint.on", ["a", 1]],
    ["checkpoint.retention", -1],
    ["checkpoint.retention", 1.5],
    ["checkpoint.retention", ""],
    ["checkpoint.retention", "ten"],
    ["checkpoint.retention", Number.NaN],
    ["checkpoint.interval", "5 fortnights"],
    ["checkpoint.interval", "-5s"],
    ["capture.maxFileSize", "big"],
    ["capture.maxFileSize", "5TB"],
    ["capture.include", { a: 1 }],
  ])("%s does not take %j, and the refusal names both", (key, given) => {
    expect(() => parseConfigValue(key, given)).toThrow(refused)
    expect(() => parseConfigValue(key, given)).toThrow(key)
    expect(() => resolveConfig({ flags: { [key]: given } })).toThrow(refused)
  })

  it("that do not exist are refused with the list of those that do", () => {
    for (const key of ["checkpoint", "checkpoint.retain", "constructor", "__proto__", ""]) {
      expect(() => parseConfigValue(key, 1)).toThrow(
        expect.objectContaining({ hint: expect.stringContaining("model") }),
      )
    }
    expect(() => resolveConfig({ workspaceFile: { checkpoint: { retain: 5 } } })).toThrow(refused)
    expect(() => resolveConfig({ userFile: { colour: "red" } })).toThrow(/colour/)
  })

  it("are wrong in a file even where a flag wins over it", () => {
    const options = { flags: { approval: "auto" }, workspaceFile: { approval: "maybe" } }
    expect(() => resolveConfig(options)).toThrow(refused)
  })

  it.each([[[]], ["text"], [1], [true]])("are not read from a file that holds %j", (file) => {
    expect(() => resolveConfig({ workspaceFile: file })).toThrow(refused)
    expect(() => resolveConfig({ userFile: file })).toThrow(refused)
  })

  it("each describe themselves and accept their own default", () => {
    for (const key of configKeys) {
      expect(configRules[key].description).toMatch(/\w/)
      expect(parseConfigValue(key, configRules[key].fallback)).toEqual(configRules[key].fallback)
    }
  })
})

describe("a length of time", () => {
  it("is read in days, hours, minutes, seconds or milliseconds, or refused", () => {
    expect(["30d", "12h", "90m", "45s", "7ms", "1000"].map(parseDuration)).toEqual([
      2_592_000_000, 43_200_000, 5_400_000, 45_000, 7, 1_000,
    ])
    for (const text of ["", "soon", "1y", "-1d", "1.5h"]) expect(() => parseDuration(text)).toThrow(refused)
  })
})
