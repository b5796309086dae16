/** Examination of config.yml and the policy: they load as a gate loads them. */
import { asError } from "@acp/core";
import { dirname } from "node:path";
import { readPolicyFile } from "@acp/home";
import type { Config } from "@acp/home";
import { checkSeveral } from "../../gate/config.js";
import { failureOf, onFile } from "../../failure.js";
import { exists } from "../../home/exists.js";
import type { DoctorContext } from "../context.js";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";
import { isPrivateFile } from "./private.js";

/** Configuration and policy. */
export const configExamination: Examination = {
  id: "config",
  looksAt: "config.yml and the policy load",
  async look(context) {
    const config = await context.config();
    return [...configFound(context, config), ...(await policyFound(context, config))];
  },
};

function configFound(
  { home }: DoctorContext,
  config: Config | Error | undefined,
): readonly Found[] {
  const path = home.configPath;
  if (config === undefined)
    return [makeFound("config_missing", { path, found: "There is no config.yml" })];
  if (config instanceof Error)
    return mistakesOf(config).map((found) => makeFound("config_broken", { path, found }));
  return config.warnings.map((found) => makeFound("config_warning", { path, found }));
}

/** Each mistake of a file by itself. */
function mistakesOf(error: Error): readonly string[] {
  const failure = failureOf(error);
  return (failure.mistakes ?? [failure]).map(({ message }) => message);
}

async function policyFound(
  { home, io }: DoctorContext,
  config: Config | Error | undefined,
): Promise<readonly Found[]> {
  // Which policy is meant is not known while the configuration does not load.
  if (config instanceof Error) return [];
  const path = config?.policyPath ?? home.policyPath;
  if (!(await exists(path)))
    return [makeFound("policy_missing", { path, found: "There is nothing to decide by" })];
  // A mode is the examination of files' to say; a policy elsewhere is looked at as a gate does.
  if (path === home.policyPath && !(await isPrivateFile(path, 0o022))) return [];
  try {
    const options = { home: io.userHome, cwd: dirname(path) };
    const policy = await onFile(path, () => readPolicyFile(path, options));
    await checkSeveral(policy, { policyFile: path, file: home.configPath, config });
    return [];
  } catch (error) {
    return mistakesOf(asError(error)).map((found) => makeFound("policy_broken", { path, found }));
  }
}
