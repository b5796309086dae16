/** @acp/audit: a durable, hash-chained audit log, its verifier and its reader. */
export { openAuditLog } from "./audit-log.js";
export type { AuditLog, AuditLogOptions } from "./audit-log.js";
export { decodeEvent, encodeEvent } from "./codec.js";
export { LINE_BYTES_MAX } from "./event.js";
export type { AuditEvent, AuditFault, AuditFaultCode } from "./event.js";
export { memoryAuditSink } from "./memory.js";
export type { MemoryAuditSink } from "./memory.js";
export { readAuditLog } from "./read.js";
export type { AuditFilter, ReadOptions } from "./read.js";
export type { TornTail } from "./tail.js";
export { verifyAuditLog } from "./verify.js";
export type { AuditVerification, BadLine, VerifyOptions, VerifyProgress } from "./verify.js";
