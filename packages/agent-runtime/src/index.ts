/** keepup as a library: everything a program needs to keep an agent's work and to go back. */
export * from "@ku0/agent-runtime-core"
export * from "@ku0/agent-runtime-persistence"
export {
  type Config,
  type ConfigKey,
  type ConfigSetting,
  configKeys,
  configRules,
  environmentName,
  parseConfigValue,
  parseDuration,
  type ResolveConfigOptions,
  type ResolvedConfig,
  resolveConfig,
} from "./config.js"
export { type GarbageReport, type OpenRuntimeOptions, openRuntime, type Runtime } from "./open-runtime.js"
export { type FindStateDirectoryOptions, findStateDirectory, placesIn, type StorePlaces } from "./state-directory.js"
