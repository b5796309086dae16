/**
 * List folder: the names in a folder of the home, or an error with its remedy. What cannot be looked
 * at is never shown as empty.
 */
import { readdir } from "node:fs/promises";
import { ConsentError, quoteText } from "@acp/core";

/**
 * The names in a folder.
 *
 * @param missing - What a folder that is not there means: an error, or that it has no files yet.
 * @throws ConsentError `home_invalid`, with the fix.
 */
export async function listFolder(
  folder: string,
  missing: "is_error" | "is_empty" = "is_error",
): Promise<readonly string[]> {
  return readdir(folder).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT" && missing === "is_empty") return [];
    throw new ConsentError("home_invalid", `Cannot look into ${quoteText(folder)}: ${why(cause)}`, {
      cause,
    });
  });
}

function why({ code, message }: NodeJS.ErrnoException): string {
  if (code === "ENOENT") return "it does not exist; run acp init, or name your home with --home";
  if (code === "EACCES" || code === "EPERM")
    return "you may not read it; run acp as its owner, or run acp doctor";
  if (code === "ENOTDIR") return "it is not a folder; run acp doctor";
  return `${message}; run acp doctor`;
}
