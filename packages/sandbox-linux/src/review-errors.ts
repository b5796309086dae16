/** Review errors: how failures of the file system are told apart. */

/** Whether the file system failed in one of these ways. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
