/**
 * LinkHandler: what a link does. Showing never decides: only a POST does that was filled in on the
 * page shown, and comes from it.
 */
import { timingSafeEqual } from "node:crypto";
import {
  type AnswerReceipt,
  type Clock,
  type Decision,
  REASON_CHARS_MAX,
  makeResponse,
} from "@acp/core";
import { readBody } from "./body.js";
import { noticePage, overPage, questionPage, takenPage } from "./link-page.js";
import type { Links, OpenLink } from "./links.js";
import { CHANNEL_NAME } from "./receive.js";
import { refusalStatus } from "./refusal-status.js";

/** Bytes of a form: the longest reason, every character of it percent-encoded, and the rest. */
const FORM_BYTES_MAX = 16_384;
const FIELDS: readonly string[] = ["key", "decision", "reason", "grant", "confirmation"];
const DECISIONS: readonly Decision[] = ["approved", "denied"];

/** What the form said. */
interface Form {
  readonly key: string;
  readonly decision: Decision;
  readonly reason: string;
  readonly grant: string;
  readonly confirmation: string;
}

/** What links need. */
export interface LinkParts {
  readonly links: Links;
  /** Where the pages are served from: forms come from here. */
  readonly origin: string;
  readonly clock: Clock;
}

function readForm(bytes: Uint8Array): Form | undefined {
  const fields = new URLSearchParams(new TextDecoder().decode(bytes));
  const names = [...fields.keys()];
  if (new Set(names).size !== names.length || names.some((name) => !FIELDS.includes(name)))
    return undefined;
  const decision = DECISIONS.find((each) => each === fields.get("decision"));
  const text = (name: string): string => fields.get(name) ?? "";
  const [key, reason] = [text("key"), text("reason")];
  if (decision === undefined || reason.length > REASON_CHARS_MAX) return undefined;
  return { key, decision, reason, grant: text("grant"), confirmation: text("confirmation") };
}

const isSame = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/** Whether a browser says that the form was sent from another site. */
function isForeign({ headers }: Request, origin: string): boolean {
  const site = headers.get("sec-fetch-site");
  const from = headers.get("origin");
  return (site !== null && site !== "same-origin") || (from !== null && from !== origin);
}

async function answer({ clock }: LinkParts, link: OpenLink, form: Form): Promise<AnswerReceipt> {
  const { request, session } = link.question;
  const { decision, reason, grant, confirmation } = form;
  const claim = makeResponse(request, {
    decision,
    reason,
    nowMs: clock.now(),
    channel: CHANNEL_NAME,
    approverId: link.subject,
    // A denial takes no offer and no word, whatever else was filled in on the page.
    ...(grant === "" || decision === "denied" ? {} : { grantId: grant }),
    ...(confirmation === "" || decision === "denied" ? {} : { confirmation }),
  });
  return session.submit(claim, { subject: link.subject });
}

async function takeForm(parts: LinkParts, link: OpenLink, form: Form): Promise<Response> {
  const { links } = parts;
  // Before anything is awaited: of two answers that come at once, one is judged.
  if (!links.take(link)) return noticePage(409, "One moment", "Your answer is being checked.");
  try {
    const receipt = await answer(parts, link, form);
    if (receipt.status !== "refused") {
      links.spend(link);
      return takenPage(receipt);
    }
    const { request } = link.question;
    if (receipt.code === "request_ended")
      return noticePage(410, "This question is over", "Your answer came too late and did nothing.");
    return questionPage({
      ...link,
      request,
      problem: { status: refusalStatus(receipt.code), text: receipt.reason },
    });
  } finally {
    links.release(link);
  }
}

async function takePost(parts: LinkParts, link: OpenLink, request: Request): Promise<Response> {
  const shown = { ...link, request: link.question.request };
  if (isForeign(request, parts.origin))
    return questionPage({
      ...shown,
      problem: { status: 403, text: "the answer was sent from another site" },
    });
  const bytes = await readBody(request, FORM_BYTES_MAX);
  const type = request.headers.get("content-type") ?? "";
  const form =
    bytes !== undefined && /^application\/x-www-form-urlencoded\b/i.test(type)
      ? readForm(bytes)
      : undefined;
  if (form === undefined)
    return questionPage({ ...shown, problem: { status: 400, text: "the answer is malformed" } });
  if (!isSame(form.key, link.formKey))
    return questionPage({
      ...shown,
      problem: { status: 403, text: "the answer was not given on this page" },
    });
  return takeForm(parts, link, form);
}

/** Serves one link. */
export async function handleLink(
  parts: LinkParts,
  token: string,
  request: Request,
): Promise<Response> {
  const link = parts.links.find(token);
  if (link === undefined)
    return noticePage(404, "Nothing here", "This link does not work, or no longer works.");
  if (link.state === "over") return overPage(link.how);
  switch (request.method) {
    case "GET":
    case "HEAD":
      return questionPage({ ...link, request: link.question.request });
    case "POST":
      return takePost(parts, link, request);
    default: {
      const refusal = noticePage(
        405,
        "Method not allowed",
        "Open the link, and answer with the form on its page.",
      );
      refusal.headers.set("allow", "GET, HEAD, POST");
      return refusal;
    }
  }
}
