/**
 * A real Chromium: Debian's, without a window. What it is asked to load from elsewhere than this
 * machine does not resolve.
 */
import { existsSync } from "node:fs";
import { type HostNeed, hostNeed } from "@acp/testing";
import { type Browser, chromium } from "playwright-core";

const PROGRAM = "/usr/bin/chromium";
/** How long one thing on a page may take: the machine may have others to do. */
export const PATIENCE_MS = 120_000;
/** How long a test may: this only ends what hangs. */
export const TEST_MS = 900_000;

/** Whether there is one here. */
export const chromiumNeed: HostNeed = hostNeed("chromium", () =>
  existsSync(PROGRAM) ? undefined : `there is no ${PROGRAM}`,
);

/** A browser for a file of tests; each person gets a profile of their own in it. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: PROGRAM,
    // Its own sandbox takes a user namespace, which root in a container does not have; it only sees
    // the project's own page.
    args: [
      "--no-sandbox",
      "--host-resolver-rules=MAP localhost 127.0.0.1, MAP 127.0.0.1 127.0.0.1, MAP *.localhost 127.0.0.1, MAP * ~NOTFOUND",
    ],
    timeout: PATIENCE_MS,
  });
}
