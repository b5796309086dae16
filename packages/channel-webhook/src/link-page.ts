/**
 * LinkPage: a question as a plain page with a form. No script, nothing loaded, every text escaped.
 * It decides nothing: links-handler.ts does.
 */
import { createHash } from "node:crypto";
import {
  type AnswerReceipt,
  type ConsentRequest,
  type EndStatus,
  REASON_CHARS_MAX,
  confirmationWord,
  escapeText,
  showDuration,
  showScope,
} from "@acp/core";

const STYLE = `:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}
pre{direction:ltr;unicode-bidi:bidi-override;white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid;padding:.75rem}
label,p,fieldset{display:block;margin:.75rem 0}
input[type=text]{font:inherit;width:100%;box-sizing:border-box}
button{font:inherit;padding:.5rem 1.5rem;margin-inline-end:1rem}
[role=alert]{border:2px solid;padding:.75rem}`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** Headers of every page: nothing is loaded, framed, kept or told to another site. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // Not "no-referrer": with it a form's own POST would say that it comes from nowhere.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "x-robots-tag": "noindex, nofollow",
};

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as HTML: on its lines, with hiding characters made visible and markup turned into text. */
function html(text: string): string {
  const safe = text.split("\n").map(escapeText).join("\n");
  return safe.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

function page(status: number, title: string, main: string): Response {
  const document = `<!doctype html>
<html lang="en" dir="ltr"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${html(title)}</title><style>${STYLE}</style></head>
<body><h1>${html(title)}</h1>
${main}
</body></html>
`;
  return new Response(document, { status, headers: HEADERS });
}

/** A page that says one thing. */
export function noticePage(status: number, title: string, text: string): Response {
  return page(status, title, `<p>${html(text)}</p>`);
}

/** What a question's page says besides the question. */
export interface QuestionPageParts {
  readonly request: ConsentRequest;
  readonly subject: string;
  readonly formKey: string;
  /** Why the last answer was not taken. */
  readonly problem?: { readonly status: number; readonly text: string };
}

function offerChoice({ offers }: ConsentRequest): string {
  if (offers.length === 0) return "";
  const choice = (value: string, label: string, checked: boolean): string =>
    `<label><input type="radio" name="grant" value="${html(value)}"${checked ? " checked" : ""}> ${html(label)}</label>`;
  const each = offers.map(({ id, scope, ttlMs }) =>
    choice(id, `and ${showScope(scope)} for ${showDuration(ttlMs)} [${id}]`, false),
  );
  return `<fieldset><legend>Approving covers</legend>${choice("", "this call only", true)}${each.join("")}</fieldset>`;
}

function wordToType(request: ConsentRequest): string {
  const word = confirmationWord(request);
  if (word === undefined) return "";
  return `<label>This is critical. To approve it, type <strong>${html(word)}</strong> <input type="text" name="confirmation" maxlength="64"></label>`;
}

/**
 * The question, whole, and below it the form. No key press sends it: the default button is one that
 * cannot be used.
 */
export function questionPage({ request, subject, formKey, problem }: QuestionPageParts): Response {
  const needsPasskey = request.evidence === "passkey";
  const alert =
    problem === undefined
      ? ""
      : `<p role="alert">Not accepted: ${html(problem.text)}. The question is still open.</p>`;
  const approve = needsPasskey ? "" : `<button name="decision" value="approved">Approve</button>`;
  const note = needsPasskey
    ? "<p>Approving this question needs a passkey. You can only deny it here.</p>"
    : "";
  const main = `${alert}<p>Risk level: <strong>${html(request.policy.requiredLevel)}</strong>. You answer as <strong>${html(subject)}</strong>.</p>
<pre>${html(request.text)}</pre>
${note}<form method="post" autocomplete="off"><input type="hidden" name="key" value="${html(formKey)}">
<button disabled hidden></button>${needsPasskey ? "" : offerChoice(request) + wordToType(request)}
<label>Reason, if you want to give one <input type="text" name="reason" maxlength="${REASON_CHARS_MAX}"></label>
<button name="decision" value="denied">Deny</button>${approve}</form>`;
  return page(problem?.status ?? 200, "An agent asks for consent", main);
}

const ENDS: Readonly<Record<EndStatus | "answered", string>> = {
  answered: "You have answered this question. The link works once.",
  approved: "It was approved.",
  approved_with_modifications: "It was approved with changes.",
  denied: "It was denied.",
  expired: "Nobody answered in time.",
  cancelled: "It was withdrawn.",
  failed: "It failed, and nothing was allowed.",
  superseded: "Another question replaced it.",
};

/** For a link that no longer works: an answer given now would do nothing. */
export function overPage(how: EndStatus | "answered"): Response {
  return noticePage(410, "This question is over", ENDS[how]);
}

/** For an answer that was taken. */
export function takenPage(
  receipt: Exclude<AnswerReceipt, { readonly status: "refused" }>,
): Response {
  switch (receipt.status) {
    case "final":
      return noticePage(200, "Your answer was accepted", ENDS[receipt.outcome]);
    case "counted":
      return noticePage(
        200,
        "Your answer was accepted",
        `${receipt.have} of ${receipt.need} people have approved.`,
      );
    case "reshow":
      return noticePage(200, "Your answer was accepted", ENDS.superseded);
    default:
      return receipt satisfies never;
  }
}
