/** JSON: an explanation for programs. Names as the other commands write them, times in UTC. */
import { isJsonObject, isoTime } from "@acp/core";
import type { JsonObject } from "@acp/core";
import type { Answer, AskedQuestion, Explanation, Run } from "./explanation.js";

/** An explanation as JSON; what is not known is left out. */
export function toJson(explanation: Explanation): JsonObject {
  const { atMs, action, rule, question, earlier, run, proof, notices, ...rest } = explanation;
  const { approvedParameters, ...called } = action;
  return json({
    ...rest,
    at: isoTime(atMs),
    action: { ...called, approved_parameters: approvedParameters },
    rule,
    question: question === undefined ? undefined : questionJson(question),
    earlier,
    run: runJson(run),
    proof,
    notices: notices.map(({ atMs: saidMs, ...said }) => ({ at: isoTime(saidMs), ...said })),
  });
}

/** Leaves out what is `undefined`. */
function json(value: object): JsonObject {
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return isJsonObject(plain) ? plain : {};
}

function questionJson(question: AskedQuestion): object {
  const { askedMs, endedMs, notShown, answers, refused, ...rest } = question;
  return {
    ...rest,
    asked_at: isoTime(askedMs),
    ended_at: endedMs === undefined ? undefined : isoTime(endedMs),
    not_shown: notShown,
    answers: answers.map(answerJson),
    refused: refused.map(({ atMs, ...said }) => ({ at: isoTime(atMs), ...said })),
  };
}

function answerJson({ atMs, tookMs, ...rest }: Answer): object {
  return { ...rest, at: isoTime(atMs), took_ms: tookMs };
}

function runJson({ startedMs, endedMs, ...rest }: Run): object {
  return {
    ...rest,
    started_at: startedMs === undefined ? undefined : isoTime(startedMs),
    ended_at: endedMs === undefined ? undefined : isoTime(endedMs),
  };
}
