/**
 * "@acp/core/policy": a policy from an object. Nothing of it is loaded by "@acp/core";
 * "@acp/core/yaml" reads policies from text.
 */
export { createPathGuard } from "./guard/path-guard.js";
export type { PathGuardOptions, ResolvedPath } from "./guard/place.js";
export { classifyTool } from "./policy/classify.js";
export { policySchema } from "./policy/document.js";
export { parsePolicy } from "./policy/parse.js";
export type { PolicyOptions } from "./policy/parse.js";
export type { PathOrigins } from "./policy/path.js";
export { matchGlob } from "./policy/pattern.js";
export type { Classification, Policy, RuleSummary } from "./policy/policy.js";
export { rules } from "./policy/rules-layer.js";
