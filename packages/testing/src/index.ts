/** @acp/testing: conformance suites and doubles for what plugs into @acp/core. */
export { askDouble, sampleRequest } from "./ask-double.js";
export type { AskDouble, AskDoubleOptions, Submission } from "./ask-double.js";
export { auditRecoveryConformance, auditSinkConformance } from "./audit-sink-conformance.js";
export type { DurableSinkUnderTest, SinkUnderTest, StoredEvent } from "./sink-under-test.js";
export type { BotApiChat } from "./bot-api-chats.js";
export { createBotApiDouble } from "./bot-api-double.js";
export type {
  BotApiDouble,
  BotApiDoubleOptions,
  BotApiTap,
  BotApiUser,
  BotApiWriting,
  QueryAnswer,
} from "./bot-api-double.js";
export type { BotApiCall } from "./bot-api-http.js";
export type { BotApiButton, BotApiMessage, UploadedFile } from "./bot-api-message.js";
export type { BotApiFault } from "./bot-api-server.js";
export type { AnswerKind, ChannelUnderTest } from "./channel-case.js";
export { channelConformance } from "./channel-conformance.js";
export type { ChannelConformanceOptions } from "./channel-conformance.js";
export type { ConformanceCase } from "./conformance.js";
export { commandSafetyConformance } from "./effects/command-safety-conformance.js";
export type { CommandRun, CommandSafetyOptions } from "./effects/command-safety-conformance.js";
export { listEffects } from "./effects/effects.js";
export type { Effect, EffectClass, Effects, EffectsEnd, FileChange } from "./effects/effects.js";
export { COMMAND_HAZARDS } from "./effects/hazards.js";
export type { CommandHazard } from "./effects/hazards.js";
export { effectsNeed, isInstalled } from "./effects/needs.js";
export { observeEffects } from "./effects/observe.js";
export type { ObserveOptions } from "./effects/observe.js";
export type { Started } from "./effects/trace.js";
export { makeEffectWorld } from "./effects/world.js";
export type { EffectWorld } from "./effects/world.js";
export { buildEscapePrograms, escapeWorld } from "./escape-programs.js";
export type { EscapeWorldOptions } from "./escape-programs.js";
export type {
  EscapeArrival,
  EscapeAttempt,
  EscapeBatch,
  EscapeProof,
  EscapeReport,
  EscapeResult,
} from "./escape/attempt.js";
export { escapeAttempts } from "./escape/attempts.js";
export { openEscapeGround } from "./escape/ground.js";
export type { EscapeGround, EscapeGroundOptions, EscapeLimits } from "./escape/ground.js";
export { runEscapeKit } from "./escape/run.js";
export type { EscapeKitOptions, EscapeStart, SandboxUnderTest } from "./escape/run.js";
export { formatEscapeReport } from "./escape/table.js";
export { sandboxUnderTest } from "./escape/under-test.js";
export type { SandboxUnderTestOptions } from "./escape/under-test.js";
export { hidingCharactersIn } from "./hiding-characters.js";
export type { HidingCharacter } from "./hiding-characters.js";
export { hostNeed } from "./host-needs.js";
export type { HostNeed } from "./host-needs.js";
export { manualClock } from "./manual-clock.js";
export type { ManualClock } from "./manual-clock.js";
export { sandboxConformance } from "./sandbox-conformance.js";
export type { SandboxConformanceOptions, SandboxFixture } from "./sandbox-conformance.js";
export { scriptedChannel } from "./scripted-channel.js";
export type {
  Script,
  ScriptedAnswer,
  ScriptedChannel,
  ScriptedChannelOptions,
} from "./scripted-channel.js";
export { seededIds } from "./seeded-ids.js";
export { MANAGER_CLASSES } from "./manager/attempt.js";
export type {
  ManagerAttempt,
  ManagerClass,
  ManagerGroup,
  ManagerProof,
  ManagerReport,
  ManagerResult,
} from "./manager/attempt.js";
export { managerAttempts } from "./manager/attempts.js";
export { carelessManager, wrapperManager } from "./manager/careless.js";
export { openManagerGround } from "./manager/ground.js";
export type { ManagerGround, ManagerGroundOptions } from "./manager/ground.js";
export { runManagerKit } from "./manager/run.js";
export type { ManagerKitOptions, ManagerStart, ManagerUnderTest } from "./manager/run.js";
export { formatManagerReport, managerTable } from "./manager/table.js";
export { channelMutants } from "./mutants/channel-mutants.js";
export { firstBroken } from "./mutants/mutant.js";
export type { Mutant } from "./mutants/mutant.js";
export { sinkMutants } from "./mutants/sink-mutants.js";
export { storeMutants } from "./mutants/store-mutants.js";
export { pendingRecord } from "./pending-record.js";
export { createSoftwarePasskey } from "./software-passkey.js";
export type {
  PasskeyAlgorithm,
  SoftwarePasskey,
  SoftwarePasskeyTwist,
} from "./software-passkey.js";
export { storeConformance } from "./store-conformance.js";
export type { MakeStore, StoreConformanceOptions } from "./store-conformance.js";
