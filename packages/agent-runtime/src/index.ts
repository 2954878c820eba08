/** keepup as a library: everything a program needs to keep an agent's work and to go back. */
export * from "@ku0/agent-runtime-core"
export * from "@ku0/agent-runtime-execution"
export * from "@ku0/agent-runtime-persistence"
export { type AgentTools, createAgentTools } from "./agent-tools.js"
export {
  type Config,
  type ConfigKey,
  type ConfigSetting,
  configKeys,
  configRules,
  environmentName,
  parseConfigValue,
  parseDuration,
  parseSize,
  type ResolveConfigOptions,
  type ResolvedConfig,
  resolveConfig,
} from "./config.js"
export { type HeldSession, type HoldSessionOptions, holdSession } from "./hold-session.js"
export { type GarbageReport, type OpenRuntimeOptions, openRuntime, type Runtime } from "./open-runtime.js"
export { requestPause } from "./pause-session.js"
export type { CallDifference, OutsideCall, SkippedCall } from "./replay-calls.js"
export { type FileDifferences, type ReplayVerifyOptions, replayVerify, type VerifiedReplay } from "./replay-verify.js"
export { type RunSessionOptions, type RunSessionResult, runSession } from "./run-session.js"
export {
  type CheckpointState,
  createSession,
  type LoadedCheckpoint,
  listCheckpoints,
  loadCheckpoint,
  type NewSession,
  type ResumedSession,
  type ResumeSessionOptions,
  resumeSession,
  saveCheckpoint,
} from "./session-calls.js"
export { type FindStateDirectoryOptions, findStateDirectory, placesIn, type StorePlaces } from "./state-directory.js"
export { type ReplayReport, verifyReplay } from "./verify-replay.js"
