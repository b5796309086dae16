/**
 * Adds patterns to a profile until it is killed; prints each that was kept. Arguments: the home,
 * the beginning of the patterns.
 */
import { isConsentError } from "@acp/core";
import { openExecProfile } from "../src/profile-config.js";

const [home = "", prefix = ""] = process.argv.slice(2);
const profile = openExecProfile({ home, profileId: "default" });

for (let round = 0; ; round++) {
  const pattern = `${prefix}-${round} **`;
  try {
    await profile.allow(pattern);
    process.stdout.write(`${pattern}\n`);
  } catch (error) {
    // Another process was at it for too long, which is for the caller to say.
    if (!isConsentError(error, "home_busy")) throw error;
  }
}
