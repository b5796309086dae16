/** @acp/testing: conformance suites and doubles for what plugs into @acp/core. */
export { auditSinkConformance } from "./audit-sink-conformance.js";
export type { SinkUnderTest, StoredEvent } from "./audit-sink-conformance.js";
export type { ConformanceCase } from "./conformance.js";
export { manualClock } from "./manual-clock.js";
export type { ManualClock } from "./manual-clock.js";
export { seededIds } from "./seeded-ids.js";
export { pendingRecord } from "./pending-record.js";
export { storeConformance } from "./store-conformance.js";
export type { MakeStore } from "./store-conformance.js";
