/**
 * @acp/exec-safety/secret-names: which names of files usually hold credentials. Loads neither the
 * parser nor the engine.
 */
export { matchesGlob } from "./secrets/name-glob.js";
export { canMatchSecret, isSecretName, mayHoldSecretName } from "./secrets/secret-names.js";
