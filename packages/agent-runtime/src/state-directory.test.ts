import { describe, expect, it } from "vitest"
import { findStateDirectory, placesIn } from "./state-directory.js"

const find = (environment: Record<string, string>, flag?: string, homeDirectory = "/home/me") =>
  findStateDirectory({ environment, homeDirectory, ...(flag !== undefined && { flag }) })

describe("the state directory", () => {
  it("is the flag's, then the variable's, then XDG's, then the home directory's", () => {
    const environment = { KEEPUP_STATE_DIR: "/var/keepup", XDG_STATE_HOME: "/xdg" }
    expect(find(environment, "/flag")).toBe("/flag")
    expect(find(environment)).toBe("/var/keepup")
    expect(find({ XDG_STATE_HOME: "/xdg" })).toBe("/xdg/keepup")
    expect(find({})).toBe("/home/me/.local/state/keepup")
  })

  it("does not take an empty variable or an XDG path that is not absolute", () => {
    expect(find({ KEEPUP_STATE_DIR: "", XDG_STATE_HOME: "relative" })).toBe("/home/me/.local/state/keepup")
    expect(find({ KEEPUP_STATE_DIR: "relative" })).toBe("relative")
  })

  it("is refused with a hint where there is no home", () => {
    expect(() => find({}, undefined, "")).toThrow(
      expect.objectContaining({ code: "UNAVAILABLE", hint: expect.stringContaining("--state-dir") }),
    )
  })
})

describe("the places in it", () => {
  it("are the database, artifacts, logs and token under one root", () => {
    expect(placesIn("/state", { storage: "user", workspacePath: "/w" })).toEqual({
      db: "sqlite:/state/keepup.db",
      artifacts: "/state/artifacts",
      logs: "/state/logs",
      token: "/state/token",
    })
  })

  it("have the database in the workspace in project mode, and where it is told to be in any mode", () => {
    expect(placesIn("/state", { storage: "project", workspacePath: "/w" }).db).toBe("sqlite:/w/.agents/sessions.db")
    const db = "postgres://host/keepup"
    expect(placesIn("/state", { storage: "project", workspacePath: "/w", db }).db).toBe(db)
    expect(placesIn("/state", { storage: "project", workspacePath: "/w" }).artifacts).toBe("/state/artifacts")
  })
})
