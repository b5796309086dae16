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

const LABEL_CHARS_MAX = 64;
const TEXTS = new Map([
  ["sign_in_again", "A first passkey takes a fresh sign-in: sign out, then in again with a new code."],
  ["unreachable", "The inbox cannot be reached. Nothing was changed, as far as is known: look again when you are back."],
  ["passkeys_unavailable", "The passkeys cannot be read or kept at the moment. Nothing was changed."],
]);

/** @param {unknown} error */
function describe(error) {
  if (error instanceof Refused) return TEXTS.get(error.code) ?? `Not done: ${escapeText(error.message)}`;
  return describeFailure(error) ?? "Not done.";
}

/** What this device is called unless its owner says otherwise. */
function guessLabel() {
  const agent = navigator.userAgent;
  const names = /** @type {const} */ ([
    ["iPhone", "iPhone"],
    ["iPad", "iPad"],
    ["Android", "Android phone"],
    ["Macintosh", "Mac"],
    ["Windows", "Windows computer"],
    ["Linux", "Linux computer"],
  ]);
  return names.find(([mark]) => agent.includes(mark))?.[1] ?? "This device";
}

/** @param {{ readonly store: Store, readonly onChanged: () => Promise<void> }} terms */
export function createPasskeysView({ store, onChanged }) {
  const list = el("ul", { class: "cards", "data-testid": "passkeys" });
  const outcome = el("p", { class: "outcome", role: "status", "data-testid": "passkeys-outcome", hidden: true });
  const add = button("Add a passkey", { class: "primary", "data-testid": "add-passkey", click: () => attempt(addOne) });
  const element = el(
    "section",
    { class: "passkeys-view", "data-testid": "passkeys-view" },
    el("h1", { tabindex: "-1" }, "Your passkeys"),
    el("p", { class: "lead" }, "A yes to something risky is signed with one of them. The private key stays on your device."),
    list,
    outcome,
    hasPasskeys() ? add : el("p", {}, "This browser has no passkeys."),
  );

  /** @type {(text: string, tone: "good" | "bad" | "") => void} */
  function tell(text, tone) {
    setText(outcome, text);
    outcome.dataset["tone"] = tone;
    outcome.hidden = text === "";
  }

  /** Does it; where that takes a passkey that was just used, asks for one first and does it then. @param {() => Promise<string | undefined>} what */
  async function attempt(what) {
    tell("", "");
    add.disabled = true;
    try {
      tell((await withFreshPasskey(what)) ?? "", "good");
    } catch (error) {
      tell(describe(error), "bad");
    } finally {
      add.disabled = !store.isLive();
      await load();
    }
  }

  /** @param {() => Promise<string | undefined>} what */
  async function withFreshPasskey(what) {
    try {
      return await what();
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== "passkey_required") throw error;
      const isSure = await confirm({
        title: "Your passkey first",
        text: "Passkeys are added and revoked by who has one: confirm with one of yours.",
        action: "Use a passkey",
        style: "primary",
        testid: "fresh-passkey",
      });
      if (!isSure) return undefined;
      await signInWithPasskey().catch((failure) => {
        throw new Refused("", describeSignIn(failure));
      });
      await onChanged();
      return what();
    }
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
    if (label === undefined) return undefined;
    await request("POST", "/api/passkeys", { registration: await create(options), label: label.trim() });
    await onChanged();
    return "Added. It signs from now on.";
  }

  /** @param {PasskeyFacts} passkey */
  async function revokeOne({ id, label }) {
    const text = "It signs nothing here from now on, and what it signed in to ends. What it signed before stays proven.";
    if (!(await confirm({ title: `Revoke “${escapeText(label)}”?`, text, action: "Revoke", testid: "revoke" }))) return;
    await attempt(async () => {
      await request("DELETE", `/api/passkeys/${id}`);
      await onChanged();
      return "Revoked.";
    });
  }

  /** @param {PasskeyFacts} passkey */
  function cardOf(passkey) {
    const { id, label, created_at: createdAt, revoked_at: revokedAt } = passkey;
    const since = `added ${showTime(createdAt, store.now())}${revokedAt === undefined ? "" : `, revoked ${showTime(revokedAt, store.now())}`}`;
    return el(
      "li",
      {
        class: revokedAt === undefined ? "card passkey" : "card passkey revoked",
        "data-testid": "passkey",
        "data-id": id,
        "data-revoked": revokedAt !== undefined ? "true" : "false",
      },
      el("div", {}, el("strong", {}, escapeText(label)), el("span", { class: "hint" }, since)),
      revokedAt === undefined
        ? button("Revoke", {
            class: "quiet small",
            "data-testid": "revoke",
            "aria-label": `Revoke ${escapeText(label)}`,
            click: () => revokeOne(passkey),
          })
        : undefined,
    );
  }

  async function load() {
    try {
      /** @type {{ readonly passkeys: readonly PasskeyFacts[] }} */
      const { passkeys } = await request("GET", "/api/passkeys");
      const inOrder = passkeys.toSorted(
        (a, b) => Number(a.revoked_at !== undefined) - Number(b.revoked_at !== undefined) || b.created_at - a.created_at,
      );
      list.replaceChildren(...inOrder.map(cardOf));
      if (passkeys.length === 0)
        list.replaceChildren(
          el("li", { class: "card nothing" }, "None yet. Without one you can say no to anything, and yes to what is not risky."),
        );
    } catch (error) {
      tell(describe(error), "bad");
    }
  }

  return {
    element,
    load,
    update() {
      add.disabled = !store.isLive();
    },
  };
}
