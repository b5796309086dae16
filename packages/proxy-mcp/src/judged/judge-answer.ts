/**
 * What a server asks for inside of an answer: `inputRequests` of a result, and the elicitations of
 * the error -32042. They are judged like the requests that they are. Rules: spec/mcp-proxy.md §18.
 */
import type { JsonObject } from "@acp/core";
import { isJsonObject, parseJson } from "@acp/core";
import type { NoticeResult } from "../call-result.js";
import { deniedResult, invalidResult, unknownResult } from "../call-result.js";
import { DENY_CODES } from "@acp/core";
import { replaceValues, textOf } from "../json-walk.js";
import type { Picked, Replacement } from "../json-walk.js";
import { membersOfLine, readClientLine } from "../message.js";
import { judgeAside } from "./judge-aside.js";
import type { Judging } from "./judging.js";
import { isServersMethod } from "./methods.js";
import { noticeOf } from "./notice-error.js";

/** What the answer is to. */
export interface AnswerOf {
  readonly server: string;
  /** The tool, or the reserved name of the request. */
  readonly name: string;
  /** How the client is told that it does not get this answer. */
  tell(notice: NoticeResult): Buffer;
  /** Nobody waits for it any more. */
  readonly signal?: AbortSignal | undefined;
}

/** One request inside of an answer. */
interface Inner {
  readonly method: string;
  readonly params: JsonObject;
  /** Where its params stand; `undefined` where they cannot be replaced. */
  readonly path: readonly string[] | undefined;
  readonly key: string;
}

const URL_REQUIRED = -32_042;
const INPUT_MAX = 16;
/** Codes that would speak of the call itself. */
const INSIDE: ReadonlyMap<string, string> = new Map([
  ["pending", "consent_deferred"],
  ["arguments_invalid", "answer_unreadable"],
]);

/**
 * The answer as the client gets it: at once where it asks for nothing, as nearly every one does.
 */
export function judgedAnswer(
  judging: Judging,
  of: AnswerOf,
  line: Buffer,
): Buffer | Promise<Buffer> {
  const members = membersOfLine(line);
  if (members === undefined || !mayAsk(line, members)) return line;
  const sent = { ...of, tell: (notice: NoticeResult) => of.tell(sentResult(of, notice)) };
  return judgeInner(judging, sent, line).catch(() =>
    sent.tell(invalidResult("the server's answer could not be judged")),
  );
}

/** Its server has acted, whatever came of what it asks: who calls again might have it done twice. */
function sentResult({ server }: AnswerOf, notice: NoticeResult): NoticeResult {
  const { code = "", reason = "", requestId, ruleId } = noticeOf(notice) ?? {};
  return unknownResult(
    INSIDE.get(code) ?? code,
    `server "${server}" answered, but what it asks for is not granted: ${reason}`,
    { ...(requestId !== undefined && { requestId }), ...(ruleId !== undefined && { ruleId }) },
  );
}

function mayAsk(line: Buffer, members: Picked): boolean {
  const code = members.get("error.code");
  if (code !== undefined && Number(textOf(line, code)) === URL_REQUIRED) return true;
  if (members.has("result.inputRequests") || members.has("result.requestState")) return true;
  return false;
}

async function judgeInner(judging: Judging, of: AnswerOf, line: Buffer): Promise<Buffer> {
  const read = readClientLine(line);
  const message = read?.kind === "response" ? parseObject(line) : undefined;
  const inner = message === undefined ? undefined : innerOf(message);
  if (message === undefined || inner === undefined || inner.length > INPUT_MAX)
    return of.tell(
      invalidResult(`server "${of.server}" asked for something in a way that cannot be judged`),
    );
  const replaced: Replacement[] = [];
  for (const { method, params, path } of inner) {
    if (!isServersMethod(method)) return of.tell(unknownRequest(of.server, method));
    const { server, signal } = of;
    const judged = await judgeAside(judging, { server, method, args: params, signal });
    if ("denied" in judged) return of.tell(judged.denied);
    if (judged.changed === undefined) continue;
    if (path === undefined)
      return of.tell(invalidResult("what a server asks in an error cannot be changed"));
    replaced.push({ path, value: judged.changed });
  }
  const result = isJsonObject(message["result"]) ? message["result"] : undefined;
  if (result !== undefined) {
    const state = result["requestState"];
    judging.asked.note({
      server: of.server,
      name: of.name,
      requestState: typeof state === "string" ? state : undefined,
      requests: new Map(inner.map(({ key, method }) => [key, method])),
    });
  }
  return replaceValues(line, replaced);
}

function unknownRequest(server: string, method: string): NoticeResult {
  return deniedResult({
    decision: "deny",
    code: "policy_denied",
    reason: `server "${server}" asks for ${JSON.stringify(method.slice(0, 100))}, which is not known`,
    ...DENY_CODES.policy_denied,
  });
}

/** The requests; `undefined` where they are none that can be read. */
function innerOf({ result, error }: JsonObject): readonly Inner[] | undefined {
  if (isJsonObject(error)) {
    const { data } = error;
    const elicitations = isJsonObject(data) ? data["elicitations"] : undefined;
    if (!Array.isArray(elicitations)) return [];
    const all = (elicitations as readonly unknown[]).map((params) =>
      isJsonObject(params)
        ? { method: "elicitation/create", params, path: undefined, key: "" }
        : undefined,
    );
    return all.every((each) => each !== undefined) ? all : undefined;
  }
  const requests = isJsonObject(result) ? (result["inputRequests"] ?? {}) : undefined;
  if (!isJsonObject(requests)) return undefined;
  const all = Object.entries(requests).map(([key, request]): Inner | undefined => {
    if (!isJsonObject(request) || typeof request["method"] !== "string") return undefined;
    const { method, params = {} } = request;
    return isJsonObject(params)
      ? { method, params, path: ["result", "inputRequests", key, "params"], key }
      : undefined;
  });
  return all.every((each) => each !== undefined) ? all : undefined;
}

function parseObject(line: Buffer): JsonObject | undefined {
  try {
    const value = parseJson(line.toString("utf8").trim());
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
