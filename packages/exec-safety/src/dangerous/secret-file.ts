/**
 * Secret file: whether a path holds credentials for somebody who is about to send it away. Public
 * halves of keys are none.
 */
import { isSecretName } from "../secrets/secret-names.js";

/** Whether an absolute path names credentials. */
export function isSecretFile(path: string): boolean {
  if (/\.(?:pub|crt|cer)$|known_hosts/.test(path)) return false;
  return path === "/etc/shadow" || path === "/etc/passwd" || isSecretName(path);
}
