/**
 * `acp config encrypt`: a secret of config.yml is kept encrypted. The value comes from a hidden
 * prompt or standard input, never from an argument; without one, the value that stands in the file
 * is encrypted.
 */
import { ConsentError, isConsentError } from "@acp/core";
import { encryptConfigField, readConfig, readConfigField } from "@acp/home";
import type { FieldChange, Home } from "@acp/home";
import type { Invocation, Run } from "../command.js";
import { homeOf } from "../home/home-source.js";
import { readSecretValue } from "../home/secret-value.js";
import { hasKeys, openKeys } from "../home/unlock.js";

/** More than any field can hold. */
const VALUE_BYTES_MAX: number = 1024 * 1024;

/** Runs the command. */
export const configEncrypt: Run = async (invocation) => {
  const { operands, print } = invocation;
  const [field] = operands;
  if (field === undefined)
    throw new ConsentError(
      "options_invalid",
      "Cannot encrypt a field: name it, such as acp config encrypt telegram.bot_token",
    );
  const home = await homeOf(invocation);
  const state = await readConfigField(home, field);
  if (!(await hasKeys(home)))
    throw new ConsentError(
      "home_invalid",
      `Cannot encrypt "${field}": this home has no keys yet; make them with acp init`,
    );
  const keys = await openKeys(home, invocation);
  const isToBeAsked = !invocation.io.stdin.isTTY || state !== "plain";
  const value = isToBeAsked
    ? await readSecretValue({ name: field, bytesMax: VALUE_BYTES_MAX }, invocation)
    : "";
  const change = await encryptConfigField(home, keys, {
    field,
    value: value === "" ? undefined : value,
  });
  print.result({ field, change, file: home.configPath }, () => [
    `${print.tone("green", DONE[change])} ${field} in ${home.configPath}`,
  ]);
  await tellProblem(home, invocation);
  return "ok";
};

const DONE: Readonly<Record<FieldChange, string>> = {
  set: "set",
  sealed: "encrypted",
  kept: "kept, as it is encrypted already:",
};

/** Who writes a file field by field wants to know what it lacks still. */
async function tellProblem(home: Home, { io, print }: Invocation): Promise<void> {
  try {
    await readConfig(home.configPath, { homeDir: io.userHome });
  } catch (error) {
    if (!isConsentError(error)) throw error;
    print.notice(`The file does not load yet: ${error.message}`);
  }
}
