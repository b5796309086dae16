/**
 * The configuration in force: the log names its text by its hash whenever a gate starts with it,
 * and says where it is another one than the last, or one of before. It is a person's file: an older
 * text loads. Of the text, which may hold secrets, nothing is kept.
 */
import { asError, isoTime } from "@acp/core";
import type { HomeConfig } from "./config.js";
import { keepConfig } from "./kept-policies.js";
import type { Notices } from "./notices.js";

/**
 * Says which configuration a gate starts with; nothing where there is no file.
 *
 * @param homeDir - The home's directory, where hashes are kept.
 * @throws ConsentError `audit_failed` where the log does not take it.
 */
export async function sayConfig(
  notices: Notices,
  homeDir: string,
  { file, hash }: Pick<HomeConfig, "file" | "hash">,
): Promise<void> {
  if (hash === undefined) return;
  const named = { config: hash, file };
  try {
    const { isOther, seenMs } = await keepConfig(homeDir, hash);
    if (isOther) notices.tell("config_reloaded", `${file} was changed and is in force`, named);
    else await notices.log("config_loaded", `${file} is in force`, named);
    if (seenMs !== undefined)
      notices.tell(
        "config_seen_before",
        `${file}: this text was in force before, last from ${isoTime(Math.floor(seenMs))} on, and another one after it`,
        named,
      );
  } catch (error) {
    await notices.log("config_loaded", `${file} is in force`, named);
    notices.tell(
      "config_warning",
      `${file}: whether it was in force before is not known: ${asError(error).message}`,
    );
  }
}
