/**
 * PasskeysView: a person's own passkeys: what each is called, a new one, and the end of one.
 */
import { Refused, request } from "./api.js";
import { button, el, setText } from "./dom.js";
import { escapeText } from "./escape.js";
import { ask, confirm } from "./sheet.js";
import { describeSignIn, signInWithPasskey } from "./sign-in-view.js";
import { create, describeFailure, hasPasskeys } from "./webauthn.js";
import { showTime } from "./words.js";

/** @typedef {import("./types.js").PasskeyFacts} PasskeyFacts */
/** @typedef {import("./store.js").Store} Store */
/** @typedef {{ readonly store: Store, readonly onChanged: () => Promise<void> }} Terms */
/**
 * @typedef {{ readonly terms: Terms, readonly list: HTMLElement, readonly outcome: HTMLElement,
 * readonly add: HTMLButtonElement }} View
 */

const LABEL_CHARS_MAX = 64;
const NONE = "None yet. Without one you can say no to anything, and yes to what is not risky.";
const TEXTS = new Map([
  [
    "sign_in_again",
    "A first passkey takes a fresh sign-in: sign out, then in again with a new code.",
  ],
  [
    "unreachable",
    "The inbox cannot be reached. Whether anything was changed is not known: look again when you are back.",
  ],
  [
    "passkeys_unavailable",
    "The passkeys cannot be read or kept at the moment. Nothing was changed.",
  ],
]);
const DEVICES = ["iPhone", "iPad", "Android", "Macintosh", "Windows", "Linux"];

/** @param {unknown} error */
function describe(error) {
  if (error instanceof Refused)
    return TEXTS.get(error.code) ?? `Not done: ${escapeText(error.message)}`;
  return describeFailure(error) ?? "Not done.";
}

/** What this device is called unless its owner says otherwise. */
const guessLabel = () =>
  DEVICES.find((mark) => navigator.userAgent.includes(mark)) ?? "This device";

/** @type {(view: View, text: string, tone: "good" | "bad" | "") => void} */
function tell({ outcome }, text, tone) {
  setText(outcome, text);
  outcome.dataset["tone"] = tone;
  outcome.hidden = text === "";
}

/**
 * Does it; where that takes a passkey that was just used, asks for one first and does it then.
 * @type {(view: View, what: () => Promise<string>) => Promise<string>}
 */
async function withFreshPasskey({ terms }, what) {
  try {
    return await what();
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== "passkey_required") throw error;
  }
  const isSure = await confirm({
    title: "Your passkey first",
    text: "Who adds or revokes a passkey has one: confirm with one of yours.",
    action: "Use a passkey",
    style: "primary",
    testid: "fresh-passkey",
  });
  if (!isSure) return "";
  try {
    await signInWithPasskey();
  } catch (error) {
    throw new Refused("", describeSignIn(error));
  }
  await terms.onChanged();
  return what();
}

/** @type {(view: View, what: () => Promise<string>) => Promise<void>} */
async function attempt(view, what) {
  const { add, terms } = view;
  tell(view, "", "");
  add.disabled = true;
  try {
    tell(view, await withFreshPasskey(view, what), "good");
    await terms.onChanged();
  } catch (error) {
    tell(view, describe(error), "bad");
  }
  add.disabled = !terms.store.isLive();
  await load(view);
}

async function addOne() {
  const options = await request("POST", "/api/passkeys/options", {});
  const label = await ask({
    title: "Add a passkey",
    label: "What to call it",
    action: "Continue",
    testid: "label",
    charsMax: LABEL_CHARS_MAX,
    value: guessLabel(),
  });
  if (label === undefined) return "";
  await request("POST", "/api/passkeys", {
    registration: await create(options),
    label: label.trim(),
  });
  return "Added. It signs from now on.";
}

/** @type {(view: View, passkey: PasskeyFacts) => Promise<void>} */
async function revokeOne(view, { id, label }) {
  const title = `Revoke “${escapeText(label)}”?`;
  const text =
    "It signs nothing here from now on, and what it signed in to ends. What it signed before stays proven.";
  if (!(await confirm({ title, text, action: "Revoke", testid: "revoke" }))) return;
  await attempt(view, async () => {
    await request("DELETE", `/api/passkeys/${id}`);
    return "Revoked.";
  });
}

/** @type {(view: View, passkey: PasskeyFacts) => HTMLElement} */
function cardOf(view, passkey) {
  const { id, label, created_at: createdAt, revoked_at: revokedAt } = passkey;
  const now = view.terms.store.now();
  const isRevoked = revokedAt !== undefined;
  const since = `Added ${showTime(createdAt, now)}${isRevoked ? `, revoked ${showTime(revokedAt, now)}` : ""}`;
  const names = { "data-testid": "passkey", "data-id": id, "data-revoked": String(isRevoked) };
  const revoke = {
    class: "quiet small",
    "data-testid": "revoke",
    "aria-label": `Revoke ${escapeText(label)}`,
  };
  return el(
    "li",
    { class: isRevoked ? "card passkey revoked" : "card passkey", ...names },
    el("div", {}, el("strong", {}, escapeText(label)), el("span", { class: "hint" }, since)),
    isRevoked ? undefined : button("Revoke", { ...revoke, click: () => revokeOne(view, passkey) }),
  );
}

/** @type {(one: PasskeyFacts, other: PasskeyFacts) => number} */
const byUse = (one, other) =>
  Number(one.revoked_at !== undefined) - Number(other.revoked_at !== undefined) ||
  other.created_at - one.created_at;

/** @param {View} view */
async function load(view) {
  try {
    /** @type {{ readonly passkeys: readonly PasskeyFacts[] }} */
    const { passkeys } = await request("GET", "/api/passkeys");
    const cards = passkeys.toSorted(byUse).map((passkey) => cardOf(view, passkey));
    view.list.replaceChildren(
      ...(cards.length > 0 ? cards : [el("li", { class: "card nothing" }, NONE)]),
    );
  } catch (error) {
    tell(view, describe(error), "bad");
  }
}

/** @param {Terms} terms */
export function createPasskeysView(terms) {
  /** @type {View} */
  const view = {
    terms,
    list: el("ul", { class: "cards", "data-testid": "passkeys" }),
    outcome: el("p", {
      class: "outcome",
      role: "status",
      "data-testid": "passkeys-outcome",
      hidden: true,
    }),
    add: button("Add a passkey", {
      class: "primary",
      "data-testid": "add-passkey",
      click: () => attempt(view, addOne),
    }),
  };
  const element = el(
    "section",
    { class: "passkeys-view", "data-testid": "passkeys-view" },
    el("h1", { tabindex: "-1" }, "Your passkeys"),
    el(
      "p",
      { class: "lead" },
      "A yes to something risky is signed with one of them. The private key stays on your device.",
    ),
    view.list,
    view.outcome,
    hasPasskeys() ? view.add : el("p", {}, "This browser has no passkeys."),
  );
  return {
    element,
    load: () => load(view),
    update() {
      view.add.disabled = !terms.store.isLive();
    },
  };
}
