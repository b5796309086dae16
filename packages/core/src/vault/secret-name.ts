/**
 * Names of secrets: what a placeholder may name. A file of its own, since a gate looks for
 * placeholders whether it has a vault or not.
 */
import { NAME_CHARS_MAX } from "../limits.js";

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/**
 * Whether a text can be a secret's name: letters, digits, `_`, `.` and `-`, at most 256, starting
 * with a letter or `_`.
 */
export function isSecretName(name: string): boolean {
  return name.length <= NAME_CHARS_MAX && NAME.test(name);
}
