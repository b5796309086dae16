import { access } from "node:fs/promises";

/**
 * Whether something is there. Only what is surely not there is not: what cannot be looked at must
 * stop whoever asks.
 */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
  );
}
