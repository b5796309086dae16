import { access } from "node:fs/promises";

/** Only what is surely not there does not exist. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
  );
}
