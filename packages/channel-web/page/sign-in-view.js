/**
 * SignInView: in by a one-time code or by a passkey. A code from the address is taken out of it at
 * once.
 */
import { Refused, request, signInWith } from "./api.js";
import { button, el, setText } from "./dom.js";
import { escapeText } from "./escape.js";
import { describeFailure, hasPasskeys, sign } from "./webauthn.js";

const TEXTS = new Map([
  ["code_refused", "This code is wrong, used or too old. Each code works once, for ten minutes."],
  ["too_many_tries", "Too many codes were wrong. Wait a minute, then try again."],
  ["passkey_refused", "This passkey is not known here, or was revoked. Sign in with a code."],
  ["unreachable", "The inbox cannot be reached."],
]);

/**
 * What went wrong with a sign-in, for a person.
 *
 * @param {unknown} error
 */
export function describeSignIn(error) {
  if (error instanceof Refused)
    return TEXTS.get(error.code) ?? `Not signed in: ${escapeText(error.message)}`;
  return describeFailure(error) ?? "Not signed in.";
}

/** In by a passkey: whichever of this person's the browser offers. */
export async function signInWithPasskey() {
  const options = await request("POST", "/api/session/passkey/options", {});
  await signInWith("/api/session/passkey", await sign(options));
}

/** A code as it is printed: groups of four. @param {string} typed */
function inGroups(typed) {
  const plain = typed
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, "")
    .slice(0, 12);
  return plain.replace(/(.{4})(?=.)/g, "$1-");
}

/** The code that the address brought, which nobody finds there later. */
export function takeCodeFromAddress() {
  const found = /^#code=([\w-]{1,64})$/.exec(location.hash)?.[1];
  if (found !== undefined) history.replaceState(null, "", "/");
  return found;
}

/**
 * @type {(parts: { readonly field: HTMLInputElement, readonly submit: HTMLButtonElement,
 * readonly problem: HTMLElement, readonly passkey: HTMLButtonElement, readonly send: () => void }) =>
 * HTMLElement}
 */
function layOut({ field, submit, problem, passkey, send }) {
  const onSubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    send();
  };
  return el(
    "section",
    { class: "sign-in", "data-testid": "sign-in-view" },
    el("img", { src: "/icon.svg", alt: "", width: 64, height: 64 }),
    el("h1", { tabindex: "-1" }, "Approvals"),
    el("p", { class: "lead" }, "What your agents ask, answered by you."),
    el("form", { submit: onSubmit }, el("label", { for: "code" }, "One-time code"), field, submit),
    problem,
    ...(hasPasskeys() ? [el("p", { class: "or" }, "or"), passkey] : []),
    el(
      "p",
      { class: "hint" },
      "For a new code, press Enter in the terminal of ",
      el("code", {}, "acp inbox"),
      ", or start it again.",
    ),
  );
}

/** The field of the code, which groups what is typed at its end. */
function makeCodeField() {
  const grouped = () => {
    if (field.selectionStart === field.value.length) field.value = inGroups(field.value);
  };
  const typing = {
    autocomplete: "one-time-code",
    autocapitalize: "characters",
    spellcheck: "false",
    maxlength: 20,
  };
  const looks = {
    id: "code",
    type: "text",
    class: "code-field",
    placeholder: "XXXX-XXXX-XXXX",
    "data-testid": "code",
  };
  const field = el("input", { ...looks, ...typing, input: grouped });
  return field;
}

/**
 * @param {{ readonly onSignedIn: () => void, readonly code?: string | undefined,
 * readonly canReturn?: boolean }} terms
 */
export function createSignInView({ onSignedIn, code, canReturn = false }) {
  const problem = el("p", { class: "problem", role: "alert", "data-testid": "sign-in-problem" });
  const field = makeCodeField();
  const submit = el(
    "button",
    { type: "submit", class: "primary", "data-testid": "sign-in" },
    "Sign in",
  );
  const byPasskey = {
    class: "quiet wide",
    "data-testid": "sign-in-passkey",
    click: () => attempt(signInWithPasskey),
  };
  const passkey = button("Sign in with a passkey", byPasskey);

  /** @param {() => Promise<void>} how */
  async function attempt(how) {
    setText(problem, "");
    submit.disabled = passkey.disabled = true;
    try {
      await how();
      onSignedIn();
    } catch (error) {
      setText(problem, describeSignIn(error));
    }
    submit.disabled = passkey.disabled = false;
  }
  const send = () =>
    void attempt(() => signInWith("/api/session", { code: inGroups(field.value) }));

  if (code !== undefined) {
    field.value = inGroups(code);
    send();
  }
  const element = layOut({ field, submit, problem, passkey, send });
  if (canReturn)
    element.append(
      button("Stay signed in as before", {
        class: "quiet wide",
        "data-testid": "stay",
        click: onSignedIn,
      }),
    );
  return { element, focus: () => field.focus() };
}
