/**
 * @acp/audit: a durable, hash-chained audit log with signed checkpoints, its verifier, its readers
 * and its exports.
 */
export { openAuditLog } from "./audit-log.js";
export type { AuditLog, AuditLogOptions, CheckpointOptions, RecoverOptions } from "./audit-log.js";
export { openCheckpoint, signCheckpoint } from "./checkpoint.js";
export type { Checkpoint, OpenedCheckpoint } from "./checkpoint.js";
export type { CheckpointClaims, CheckpointReport } from "./checkpoint-check.js";
export type { CheckpointSchedule } from "./checkpointer.js";
export { decodeEvent, encodeEvent } from "./codec.js";
export { AUDIT_FAULT_CODES, LINE_BYTES_MAX } from "./event.js";
export type { AuditEvent, AuditFault, AuditFaultCode } from "./event.js";
export type { EventStamp } from "./event-line.js";
export { EXPORT_FORMATS, exportAuditLog } from "./export.js";
export type { ExportFormat, ExportOptions } from "./export.js";
export type { Rotation } from "./file-store.js";
export type { AuditFilter } from "./filter.js";
export { followAuditLog } from "./follow.js";
export type { FollowOptions } from "./follow.js";
export { readLastEventMs, readNextSeq } from "./last-event.js";
export { readLastMarks } from "./last-marks.js";
export type { LastMarks, LoggedMark } from "./last-marks.js";
export { listArchives } from "./log-parts.js";
export type { Archive } from "./log-parts.js";
export { memoryAuditSink } from "./memory.js";
export type { MemoryAuditSink } from "./memory.js";
export { merkleLeafHash, verifyConsistency, verifyInclusion } from "./merkle.js";
export type { ConsistencyProof, InclusionProof } from "./merkle.js";
export { generateNoteKey, noteSigner, noteVerifier, openNote } from "./note.js";
export type { NoteSigner, NoteVerifier, OpenedNote } from "./note.js";
export { isQuestionEnd, QUESTION_END_TYPES } from "./open-work.js";
export { openPlainLog } from "./plain-log.js";
export type { PlainLog, PlainLogOptions } from "./plain-log.js";
export { openAuditProver } from "./prove.js";
export type { AuditProver } from "./prove.js";
export { pruneAuditLog } from "./prune.js";
export type { PruneOptions } from "./prune.js";
export { readAuditLog, readAuditLogBackward } from "./read.js";
export type { ReadOptions } from "./read.js";
export type { TornTail } from "./tail.js";
export { faultOf } from "./recheck.js";
export { teeSinks } from "./tee.js";
export type { TreeEdge } from "./tree-edge.js";
export { verifyAuditLog } from "./verify.js";
export type { AuditVerification, BadLine, VerifyOptions, VerifyProgress } from "./verify.js";
export type { LogClock } from "./wall-clock.js";
export { checkpointsPath, fileWitness, readCheckpoints } from "./witness.js";
export type { Witness } from "./witness.js";
