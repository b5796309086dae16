/** @acp/testing: conformance suites and doubles for what plugs into @acp/core. */
export { askDouble, sampleRequest } from "./ask-double.js";
export type { AskDouble, AskDoubleOptions, Submission } from "./ask-double.js";
export { auditRecoveryConformance, auditSinkConformance } from "./audit-sink-conformance.js";
export type { DurableSinkUnderTest, SinkUnderTest, StoredEvent } from "./audit-sink-conformance.js";
export type { AnswerKind, ChannelUnderTest } from "./channel-case.js";
export { channelConformance } from "./channel-conformance.js";
export type { ChannelConformanceOptions } from "./channel-conformance.js";
export type { ConformanceCase } from "./conformance.js";
export { manualClock } from "./manual-clock.js";
export type { ManualClock } from "./manual-clock.js";
export { scriptedChannel } from "./scripted-channel.js";
export type { Script, ScriptedAnswer, ScriptedChannel, ScriptedChannelOptions } from "./scripted-channel.js";
export { seededIds } from "./seeded-ids.js";
export { pendingRecord } from "./pending-record.js";
export { storeConformance } from "./store-conformance.js";
export type { MakeStore } from "./store-conformance.js";
