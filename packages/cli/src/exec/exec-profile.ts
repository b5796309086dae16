/**
 * The profile that a command line names: what may run, and who is asked (spec/exec-config.md).
 */
import { ConsentError, JSON_BYTES_MAX, isConsentError, parseJson } from "@acp/core";
import type { JsonValue } from "@acp/core";
import type { ExecApprovalConfig } from "@acp/core/exec";
import type { CommandLine } from "../command.js";
import { onFile } from "../failure.js";
import { inputName, readInput } from "../input.js";
import type { InputIo } from "../input.js";
import { INBOX_PORT } from "../inbox/settings.js";

/** A profile's section about commands, and where it was read. */
export interface ExecProfile {
  /** Absent where none was named, and every default applies. */
  readonly file?: string;
  readonly config: ExecApprovalConfig;
}

/**
 * Reads the profile of `--profile`.
 *
 * @throws ConsentError `config_invalid`, beginning with the file; `options_invalid` where there is
 *   none.
 */
export async function readExecProfile({
  values,
  io,
}: Pick<CommandLine, "values"> & { readonly io: InputIo }): Promise<ExecProfile> {
  const { parseExecApprovalConfig, parseProfileConfig } = await import("@acp/core/exec");
  const { profile } = values;
  if (profile === undefined) return { config: parseExecApprovalConfig({}) };
  // Standard input is taken: by the hook's event, or by the commands.
  if (profile === "-")
    throw new ConsentError("options_invalid", "Cannot read --profile -: name a file");
  const text = await readInput(profile, io, { what: "profile", bytesMax: JSON_BYTES_MAX });
  const file = inputName(profile, io);
  return {
    file,
    config: await onFile(file, () =>
      withoutInbox(parseProfileConfig(parseDocument(text)).execApproval),
    ),
  };
}

/** Where people answer is no place for an agent to ask. */
function withoutInbox(config: ExecApprovalConfig): ExecApprovalConfig {
  if (!config.loopbackPorts.includes(INBOX_PORT)) return config;
  throw new ConsentError(
    "config_invalid",
    `loopbackPorts: ${INBOX_PORT} is where acp inbox listens; no command may reach it without a person's approval`,
  );
}

/** A file that is no JSON is a configuration that does not load, not a wrong command line. */
function parseDocument(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    if (!isConsentError(error)) throw error;
    const { message, position } = error;
    throw new ConsentError("config_invalid", message, {
      cause: error,
      ...(position === undefined ? {} : { position }),
    });
  }
}
