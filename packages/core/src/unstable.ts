/**
 * "@acp/core/unstable": what packages of ACP beside core need, and what may change in any release.
 * Build nothing else on it.
 */
export { showName } from "./approval/show.js";
export { GLOB_CHARS_MAX } from "./limits.js";
export { hasWildcard } from "./policy/glob.js";
export { normalizePath } from "./policy/path.js";
export type { Segments } from "./policy/path.js";
export { askMatches } from "./policy/pattern.js";
export { reachKeyOf } from "./policy/readings.js";
export { PLACEHOLDER_START } from "./vault/placeholders.js";
