/**
 * "@acp/core/channels": one channel made of several, and many questions answered on one screen.
 * Nothing of it is loaded by "@acp/core": a gate is given its channel.
 */
export { answerBatch } from "./channels/batch.js";
export type { BatchAnswerer, BatchChoice, BatchQuestion } from "./channels/batch.js";
export { composeWith, escalate, firstOf, toAll } from "./channels/compose.js";
export type { Composer, EscalationStage } from "./channels/compose.js";
