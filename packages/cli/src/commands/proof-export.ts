/**
 * `acp proof export`: one question with its signed answers, out of the audit log, for whoever is to
 * verify it.
 */
import { readAuditLog } from "@acp/audit";
import { ConsentError, isJsonObject } from "@acp/core";
import { makeConsentRecord } from "@acp/core/proof";
import type { JsonObject, JsonValue } from "@acp/core";
import { homePaths } from "@acp/home";
import { readIndexKey } from "../logs/index-key.js";
import { auditFilesFor } from "../logs/log-files.js";
import type { Run } from "../command.js";
import { homePath } from "../home/home-source.js";

/** Runs the command. */
export const proofExport: Run = async ({ operands, values, io, print }) => {
  const [id] = operands;
  if (id === undefined)
    throw new ConsentError(
      "options_invalid",
      "Cannot export a proof: name the question, acp proof export ID",
    );
  const home = homePath({ values, io });
  const indexKey = await readIndexKey(homePaths(home));
  const found = await findQuestion(await auditFilesFor([], home), { id, indexKey });
  if (!found.isAsked) {
    print.notice(`No question in the log has the ID ${id}; acp audit show lists them`);
    return "nothing";
  }
  if (found.request === undefined || found.responses.length === 0) {
    const why = found.request === undefined ? "it was asked without keys" : "nobody answered it";
    print.notice(`There is no proof of ${id}: ${why}`);
    return "nothing";
  }
  const record = makeConsentRecord(found.request, found.responses);
  print.result(record, () => [JSON.stringify(record, undefined, 2)]);
  return "ok";
};

interface Question {
  readonly isAsked: boolean;
  readonly request: JsonObject | undefined;
  readonly responses: readonly JsonObject[];
}

async function findQuestion(
  files: readonly string[],
  { id, indexKey }: { readonly id: string; readonly indexKey: Uint8Array | undefined },
): Promise<Question> {
  const reading = { filter: { requestId: id }, indexKey };
  let isAsked = false;
  let asked: JsonValue | undefined;
  let answers: readonly JsonValue[] = [];
  for (const file of files) {
    for await (const { eventType, metadata } of readAuditLog(file, reading)) {
      const { request, responses } = metadata;
      if (eventType === "consent_requested") [isAsked, asked] = [true, request];
      if (Array.isArray(responses)) answers = responses;
    }
  }
  return {
    isAsked,
    request: isJsonObject(asked) ? asked : undefined,
    responses: answers.filter(isJsonObject),
  };
}
