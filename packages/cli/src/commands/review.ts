/**
 * `acp review …`: what agents of `acp run --review` wrote, shown, taken and dropped.
 */
import { ConsentError, escapeText, isoTime } from "@acp/core";
import type { Run } from "../command.js";
import { homeOf } from "../home/home-source.js";
import { resultOf } from "../review/result.js";
import { drop, takeFrom } from "../review/settle.js";
import { findReview, freeze, isRunning, listReviews } from "../review/store.js";
import type { Review } from "../review/store.js";
import { diffOf } from "../review/diff-text.js";
import { summaryOf } from "../review/text.js";

/** `acp review list`. */
export const reviewList: Run = async (invocation) => {
  const { print } = invocation;
  const all = await listReviews(await homeOf(invocation));
  const found = await Promise.all(
    all.map(async (review) => ({ ...fieldsOf(review), running: await isRunning(review) })),
  );
  print.result({ reviews: found }, () =>
    found.map(
      ({ id, agent, workspace, started, running }) =>
        `${id}  ${started}  ${escapeText(agent)} in ${escapeText(workspace)}${running ? "  (running)" : ""}`,
    ),
  );
  return found.length === 0 ? "nothing" : "ok";
};

/** `acp review show`. */
export const reviewShow: Run = async (invocation) => {
  const { print, operands, flags } = invocation;
  const [id, ...paths] = operands;
  const home = await homeOf(invocation);
  const review = await findReview(home, id);
  const running = await isRunning(review);
  const snapshot = await freeze(review);
  print.result(
    { ...fieldsOf(review), running, digest: snapshot.digest, ...snapshot.listing },
    () => [
      ...summaryOf(review, snapshot, running),
      ...(flags.has("diff") || paths.length > 0 ? ["", ...diffOf(snapshot, paths)] : []),
      ...(snapshot.listing.changes.length === 0 ? [] : nextSteps(review, snapshot.digest)),
    ],
  );
  return "ok";
};

/** `acp review take`. */
export const reviewTake: Run = async (invocation) => {
  const { operands, flags, values, io, print } = invocation;
  const [id, ...named] = operands;
  const all = flags.has("all");
  if (id === undefined) throw usage("name the review, acp review take ID");
  if (values.digest === undefined)
    throw usage("write the digest that acp review show gives, --digest SHA256");
  if (all === named.length > 0)
    throw usage(all ? "--all and paths exclude each other" : "name paths, or write --all");
  const home = await homeOf(invocation);
  const review = await findReview(home, id);
  const paths = named.map((path) => path.replace(/\/+$/u, ""));
  const settled = await takeFrom(
    review,
    { digest: values.digest, paths: all ? "all" : paths, overwrites: flags.has("overwrite") },
    { home, io },
  );
  print.result({ ...settled }, () => resultOf(review, settled));
  return settled.failed.length === 0 && settled.conflicts.length === 0 ? "ok" : "failed";
};

/** `acp review drop`. */
export const reviewDrop: Run = async (invocation) => {
  const { operands, io, print } = invocation;
  const [id] = operands;
  if (id === undefined) throw usage("name the review, acp review drop ID");
  const home = await homeOf(invocation);
  const review = await findReview(home, id);
  await drop(review, { home, io });
  print.result({ dropped: review.id }, () => [
    `Review ${review.id} is dropped; the workspace is as it was`,
  ]);
  return "ok";
};

function nextSteps({ id }: Review, digest: string): readonly string[] {
  return [
    "",
    `Take everything that is not set apart:  acp review take ${id} --all --digest ${digest}`,
    `Take some:                              acp review take ${id} PATH… --digest ${digest}`,
    `See the lines:                          acp review show ${id} --diff`,
    `Take nothing:                           acp review drop ${id}`,
  ];
}

function fieldsOf({ id, agent, workspace, startedMs }: Review): {
  readonly id: string;
  readonly agent: string;
  readonly workspace: string;
  readonly started: string;
} {
  return { id, agent, workspace, started: isoTime(startedMs) };
}

function usage(what: string): ConsentError {
  return new ConsentError("options_invalid", `Cannot settle a review: ${what}`);
}
