/**
 * The settings of the home's logs, for commands that must not fail because of the rest of
 * config.yml: what was done has to be noted, and a log has to be checked, also where the file does
 * not load.
 */
import { isConsentError } from "@acp/core";
import { readConfig } from "@acp/home";
import type { AuditConfig, HomePaths } from "@acp/home";
import type { Io } from "../command.js";
import { exists } from "../home/exists.js";

/** The home, and what `~` means in its configuration. */
export interface HomeOfUser {
  readonly home: HomePaths;
  readonly io: Pick<Io, "userHome">;
}

/**
 * The section `audit`; `undefined` where there is none, and where the file does not load, which
 * `onProblem` hears.
 */
export async function readAuditConfig(
  { home: { configPath }, io }: HomeOfUser,
  onProblem: (message: string) => void = () => {},
): Promise<AuditConfig | undefined> {
  if (!(await exists(configPath))) return undefined;
  try {
    return (await readConfig(configPath, { homeDir: io.userHome })).audit;
  } catch (error) {
    if (!isConsentError(error)) throw error;
    onProblem(error.message);
    return undefined;
  }
}
