/** Keeping and going back: stores, sessions, checkpoints, snapshots, artifacts, time travel, recovery. */
export {
  type ArtifactContent,
  type CreateArtifactContentOptions,
  createArtifactContent,
} from "./artifact/artifact-content.js"
export {
  ArtifactPipeline,
  type CreateArtifactPipelineOptions,
  createArtifactPipeline,
  type EmitArtifactOptions,
  type EmitArtifactResult,
} from "./artifact/artifact-pipeline.js"
export {
  ArtifactRegistry,
  type ArtifactSchema,
  type CreateArtifactRegistryOptions,
  createArtifactRegistry,
} from "./artifact/artifact-registry.js"
export type { ArtifactPayload, DefaultArtifactType } from "./artifact/artifact-types.js"
export { fromFileError } from "./artifact/file-error.js"
export {
  type CreateImageArtifactStoreOptions,
  createImageArtifactStore,
  type ImageArtifactStore,
} from "./artifact/image-artifacts.js"
export { type SweepArtifactsOptions, sweepArtifacts } from "./artifact/sweep-artifacts.js"
export { type WriteFileAtomicOptions, writeFileAtomic } from "./artifact/write-file-atomic.js"
export { AutoSaveMiddleware, type AutoSaveOptions, type SignalSource } from "./checkpoint/auto-save.js"
export {
  type CheckpointManager,
  type CheckpointManagerOptions,
  createCheckpointManager,
  type TakeCheckpointOptions,
} from "./checkpoint/checkpoint-manager.js"
export {
  type CheckpointPolicy,
  createCheckpointPolicy,
  defaultCheckpointEvents,
} from "./checkpoint/checkpoint-policy.js"
export { CheckpointRepository } from "./checkpoint/checkpoint-repository.js"
export { defaultRetention, planPrune, type RetentionPolicy } from "./checkpoint/checkpoint-retention.js"
export { CheckpointService, type CheckpointServiceOptions } from "./checkpoint/checkpoint-service.js"
export { type ReadGitFactsOptions, readGitFacts, readGitSignature } from "./checkpoint/git-facts.js"
export type { PruneResult } from "./checkpoint/prune-checkpoints.js"
export { type FillHandoffPathOptions, fillHandoffPath } from "./handoff/handoff-path.js"
export { createHandoffKeeper, type HandoffKeeper, type HandoffKeeperOptions } from "./handoff/keep-handoff.js"
export { type Handoff, readHandoff, renderHandoff } from "./handoff/render-handoff.js"
export {
  type WriteHandoffSectionOptions,
  type WriteHandoffSectionResult,
  writeHandoffSection,
} from "./handoff/write-handoff-section.js"
export { describeOpenFailure } from "./recovery/check-database.js"
export { checkStore } from "./recovery/check-store.js"
export type { CheckStoreOptions, Finding, FindingCode } from "./recovery/finding.js"
export { type RecoveredSession, type RecoverResult, recoverAll, recoverSession } from "./recovery/recover-session.js"
export { type RepairResult, repairStore } from "./recovery/repair-store.js"
export { type SettledRestore, settleRestores } from "./recovery/settle-restores.js"
export { settleRewinds } from "./recovery/settle-rewinds.js"
export { listOtherUsers, noteSnapshotUser } from "./recovery/snapshot-users.js"
export {
  type CleanupSessionsOptions,
  type CleanupSessionsResult,
  cleanupSessions,
} from "./session/cleanup-sessions.js"
export {
  countSessions,
  type KnownWorkspace,
  listChangedSessions,
  listKnownWorkspaces,
  listSessionIds,
} from "./session/overview.js"
export {
  type FamilyCheckpoint,
  type FamilyMember,
  findCommonEntry,
  type HistoryJump,
  readFamily,
} from "./session/read-family.js"
export { type ReadMessage, type ReadMessagesOptions, readMessages } from "./session/read-messages.js"
export { chatMark, damagedMark, importedMark, pauseMark } from "./session/session-marks.js"
export {
  type ExecutionLease,
  type ExecutionLeaseFilter,
  type ExecutionTaskSnapshot,
  type ExecutionTaskSnapshotFilter,
  SQLiteExecutionStateStore,
  type SQLiteExecutionStateStoreOptions,
} from "./session/sqlite-execution-state-store.js"
export type { SweptSnapshots } from "./snapshot/consolidate.js"
export type { SnapshotChange } from "./snapshot/diff-snapshots.js"
export {
  isTaskCheckpoint,
  type ShadowCheckpoint,
  ShadowCheckpointService,
  type ShadowCheckpointServiceOptions,
  type ShadowDiffEntry,
} from "./snapshot/shadow-checkpoint-service.js"
export {
  type CaptureOptions,
  type OpenSnapshotStoreOptions,
  openSnapshotStore,
  type SnapshotFile,
  type SnapshotStore,
} from "./snapshot/snapshot-store.js"
export { isWorkspaceThere } from "./snapshot/workspace-root.js"
export { type CollectGarbageOptions, type CollectGarbageResult, collectGarbage } from "./store/collect-garbage.js"
export { type OpenLog, type OpenLogOptions, openLog } from "./store/open-log.js"
export { type OpenStoreOptions, openStore, type Store } from "./store/open-store.js"
export { findSqlitePath } from "./store/sqlite-address.js"
export { diffState, type StateChange } from "./time-travel/diff-state.js"
export {
  diffCheckpoints,
  listCheckpointFiles,
  type MessageNear,
  messagesAround,
  patchBetween,
  readCheckpointFile,
  writeCheckpointFiles,
} from "./time-travel/look.js"
export { MessageRewindManager, type RewindToIndexOptions } from "./time-travel/message-rewind-manager.js"
export { planRestore, type RestoreCheckpointOptions, type ShownPlan } from "./time-travel/plan-restore.js"
export { type ReplayOptions, type ReplayPage, readReplayPage, replayHistory } from "./time-travel/replay.js"
export { type RestoreResult, restoreCheckpoint } from "./time-travel/restore.js"
export { type RewindOptions, type RewindResult, rewindName, rewindToCheckpoint } from "./time-travel/rewind.js"
export type { TimeTravelContext } from "./time-travel/time-travel-context.js"
export {
  type NavigationAction,
  type NavigationResult,
  TimeTravelNavigator,
} from "./time-travel/time-travel-navigator.js"
export { findUndoable, type UndoRestoreOptions, undoRestore } from "./time-travel/undo-restore.js"
export {
  type ExportSessionOptions,
  type ExportSessionResult,
  exportSession,
  streamExport,
} from "./transfer/export-session.js"
export type { ExportOptions, ExportReport, LeftOut, TransferContext } from "./transfer/export-work.js"
export { type ImportOldSessionsOptions, importOldSessions } from "./transfer/import-old-sessions.js"
export { type ImportSessionOptions, type ImportSessionResult, importSession } from "./transfer/import-session.js"
export { renderMarkdown } from "./transfer/render-markdown.js"
