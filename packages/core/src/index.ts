/** @acp/core: a human's consent between an agent and everything it does. */
export type { Action, ActionKind, HttpAction, ShellAction, ToolAction } from "./action.js";
export { ConsentError, isConsentError } from "./errors.js";
export type { ConsentErrorCode, ConsentErrorOptions, TextPosition } from "./errors.js";
