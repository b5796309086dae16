/**
 * Make home: opens the directory of a home, which it makes where there is none.
 */
import { mkdir } from "node:fs/promises";
import { ConsentError } from "@acp/core";
import { openHome, refuseInterrupted } from "@acp/home";
import type { Home } from "@acp/home";

/** A gate works without `acp init`: the directory is all that it needs. */
export async function makeHome(directory: string): Promise<Home> {
  await refuseInterrupted("make home", directory);
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new ConsentError(
      "home_invalid",
      `Cannot make home "${directory}": ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        cause,
      },
    );
  });
  return openHome(directory);
}
