/** All attempts against a manager. */
import type { ManagerAttempt } from "./attempt.js";
import { RUN_ATTEMPTS } from "./attempts-run.js";
import { START_ATTEMPTS } from "./attempts-starts.js";
import { WORKSPACE_ATTEMPTS } from "./attempts-workspace.js";

/** Every attempt against a manager, as data; {@link runManagerKit} makes them. */
export const managerAttempts: readonly ManagerAttempt[] = [
  ...START_ATTEMPTS,
  ...WORKSPACE_ATTEMPTS,
  ...RUN_ATTEMPTS,
];
