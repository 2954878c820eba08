/** Opens what a snapshot store works with: the shadow repository, git, the user's repository, the rules and the lock. */
import { join } from "node:path"
import { createGit } from "./git-process.js"
import { readIgnoreRules } from "./ignore-rules.js"
import { createObjectReader } from "./object-reader.js"
import { createOwnFiles } from "./own-files.js"
import { createRefStore } from "./refs.js"
import { createScanState, loadScanState } from "./scan-state.js"
import { openShadowRepository } from "./shadow-repository.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import type { OpenSnapshotStoreOptions } from "./snapshot-store.js"
import { createStoreLock } from "./store-lock.js"
import { createStoreSession, type StoreSession } from "./store-session.js"
import { createSyncDisk } from "./sync-disk.js"
import { readUserConfig } from "./user-config.js"
import { findGlobalFile, findUserRepository } from "./user-repository.js"
import { createWorkspaceFiles } from "./workspace-files.js"

export async function openStoreSession(options: OpenSnapshotStoreOptions): Promise<StoreSession> {
  const shadow = openShadowRepository(options, options.clock.now())
  const store = shadow.directory
  const git = createGit({
    environment: options.environment,
    gitDirectory: store,
    ...(options.git === undefined ? {} : { program: options.git }),
    ...(options.gitTimeLimitMs === undefined ? {} : { timeLimitMs: options.gitTimeLimitMs }),
  })
  const repository = findUserRepository(shadow.workspace)
  const userConfig = await readUserConfig({
    ...{ git, repository, homeDirectory: options.homeDirectory, environment: options.environment, now: Date.now },
    program: options.git,
    cacheFile: join(store, "user-config.json"),
  })
  await shadow.ready
  const ownFolders = [store, ...(options.stateDirectory === undefined ? [] : [options.stateDirectory])]
  const own = createOwnFiles(shadow.workspace, ownFolders, options.databases ?? [])
  const packFolder = join(store, "objects/pack")
  const environment: SnapshotEnvironment = {
    ...{ store, isGone: shadow.isGone, git, repository, userConfig, clock: options.clock, now: Date.now },
    attributesFile: findGlobalFile(
      userConfig.get("core.attributesfile"),
      "attributes",
      options.homeDirectory,
      options.environment,
      repository?.root ?? shadow.workspace,
    ),
    own,
    packFolder,
    reader: createObjectReader(git, packFolder),
    refs: createRefStore(store),
    files: createWorkspaceFiles(shadow.workspace, options.capture?.maxFileSize ?? 50 << 20),
    loadState: () => loadScanState(store) ?? createScanState(),
    syncDisk: createSyncDisk(options.environment),
    step: options.onStep ?? (() => {}),
    readRules: () =>
      readIgnoreRules({
        ...{ git, repository, userConfig, environment: options.environment, homeDirectory: options.homeDirectory },
        shadowDirectory: store,
        workspace: shadow.workspace,
        include: options.capture?.include ?? [],
        own,
      }),
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  }
  return createStoreSession(environment, createStoreLock(join(store, "lock.db"), options.lockTimeoutMs ?? 30_000))
}
