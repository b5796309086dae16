/**
 * Denies all: whether a tool can be called at all, by what the policy and the layers are now. For who
 * leaves out of a list what would be denied in any case; nothing is decided by it. Pure.
 */
import { isToolAction } from "../action/action.js";
import type { Action } from "../action/action.js";
import type { Judges } from "./evaluate.js";

/**
 * Whether every call of a tool is denied, whatever its arguments and whenever it comes. False where
 * that cannot be told.
 */
export function deniesAll({ policy, layers }: Judges, action: Action): boolean {
  if (!isToolAction(action)) return false;
  const said = policy === undefined ? "default" : policy.deniesAll(action);
  if (said === "rule") return true;
  return said === "default" && layers.every(({ onlyRestricts }) => onlyRestricts === true);
}
