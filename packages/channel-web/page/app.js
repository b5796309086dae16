/**
 * App: joins the parts: who is signed in, what is told, notices, keys. Every text is set as text;
 * the inbox decides everything. Names that tests may use (`data-testid`): README.md beside this
 * file.
 */
import { Refused, keepKey, onKeyChange, readKey, request } from "./api.js";
import { button, byId, el, setText } from "./dom.js";
import { escapeText } from "./escape.js";
import { followKeys } from "./keys.js";
import { say } from "./live.js";
import { followOutcomes } from "./outcomes.js";
import { createScreens } from "./screens.js";
import { closeSheet } from "./sheet.js";
import { createSignInView, takeCodeFromAddress } from "./sign-in-view.js";
import { createStore } from "./store.js";
import { followEvents } from "./stream.js";
import { levelOf, showShortEnd } from "./words.js";

/** @typedef {import("./types.js").Link} Link */

/** @type {Readonly<Record<Link, string>>} */
const NOTICES = {
  connecting: "Connecting…",
  live: "",
  lost: "The inbox cannot be reached. Nothing can be answered; what is not answered in time is denied. Trying again…",
  offline: "You are offline. Nothing can be answered; what is not answered in time is denied.",
};
/** A connection that is back sooner than this is not worth a word. */
const NOTICE_AFTER_MS = 1_000;
const TICK_MS = 1_000;

const store = createStore();
const screens = createScreens({ store, refreshSession });
/** @type {ReturnType<typeof followEvents> | undefined} */
let stream;
let noticeTimer = 0;

/**
 * Learns anew who is signed in; shows the sign-in where nobody is any more, e.g. because the
 * passkey was revoked that signed in.
 */
async function refreshSession() {
  try {
    store.setSession(await request("GET", "/api/session"));
  } catch (error) {
    if (error instanceof Refused && error.code === "signed_out") showSignIn();
    throw error;
  }
}

function showLink() {
  clearTimeout(noticeTimer);
  const text = store.session() === undefined ? "" : NOTICES[store.link()];
  const notice = byId("notice");
  const show = () => {
    setText(notice, text);
    notice.hidden = text === "";
    document.body.dataset["link"] = store.link();
  };
  if (store.link() === "connecting") noticeTimer = setTimeout(show, NOTICE_AFTER_MS);
  else show();
}

function showCount() {
  const count = store.count();
  const badge = byId("count");
  setText(badge, count > 99 ? "99+" : String(count));
  badge.hidden = count === 0;
  badge.setAttribute("aria-label", `${count} open`);
  document.title = count === 0 ? "Approvals" : `(${count}) Approvals`;
  if ("setAppBadge" in navigator) void navigator.setAppBadge(count).catch(() => undefined);
}

/** @param {import("./store.js").Change} change */
function tellReader({ what, id, isNew }) {
  if (id === undefined) return;
  const question = store.find(id);
  if (what === "open" && isNew === true && question !== undefined)
    say(
      `New question, ${levelOf(question.request)} risk: ${escapeText(question.request.action.description)}`,
    );
  const over = store.over(id);
  if (what === "ended" && over !== undefined)
    say(
      `${showShortEnd(over.ended.status)}: ${escapeText(over.question.request.action.description)}`,
    );
}

/** @type {(name: string, data: any) => void} */
function take(name, data) {
  if (name === "hello") store.hello(data);
  else if (name === "open") store.put(data);
  else if (name === "ended") store.end(data);
  else if (name === "lost") store.lose(data);
  else if (name === "run") store.run(data);
}

/** @param {string} [code] */
function showSignIn(code) {
  stream?.stop();
  stream = undefined;
  closeSheet();
  store.setSession(undefined);
  screens.close();
  byId("top").hidden = true;
  document.body.dataset["place"] = "sign-in";
  // A link with a code that is none ends no session.
  const canReturn = code !== undefined && readKey() !== "";
  const signIn = createSignInView({ code, canReturn, onSignedIn: () => void start() });
  byId("list").replaceChildren();
  byId("main").replaceChildren(signIn.element);
  signIn.focus();
}

async function signOut() {
  await request("DELETE", "/api/session").catch(() => undefined);
  keepKey("");
  showSignIn();
}

function follow() {
  stream?.stop();
  stream = followEvents({
    event: take,
    link: (link) => store.setLink(link),
    signedOut: () => showSignIn(),
  });
}

/** Signs in with what the browser has; without it the sign-in is shown. */
async function start() {
  if (readKey() === "") return showSignIn();
  try {
    await refreshSession();
  } catch (error) {
    if (error instanceof Refused && error.code === "signed_out") return;
    // Not reached: the page says so, and the stream tries again.
    store.setSession({ approver: "", passkeys: -1, passkey_from: "rules-only", now: Date.now() });
  }
  byId("top").hidden = false;
  screens.open();
  follow();
}

/** Another tab signed in or out. Who is the same person goes on where they are. */
async function takeKeyChange() {
  const before = store.session()?.approver;
  if (screens.isOpen() && readKey() !== "") await refreshSession().catch(() => undefined);
  if (!screens.isOpen() || readKey() === "" || store.session()?.approver !== before) await start();
}

function listen() {
  store.subscribe((change) => {
    if (change.what === "link" || change.what === "session") showLink();
    if (change.what === "all" && store.session()?.approver === "")
      void refreshSession().catch(() => undefined);
    tellReader(change);
    showCount();
    showAccount();
    screens.update(change);
  });
  setInterval(() => screens.tick(), TICK_MS);
  followOutcomes(store, (body) => request("POST", "/api/outcomes", body));
  addEventListener("hashchange", () => {
    const code = takeCodeFromAddress();
    if (code === undefined) screens.route();
    else showSignIn(code);
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") stream?.wake();
  });
  onKeyChange(() => void takeKeyChange());
  byId("skip").addEventListener("click", () => byId("main").focus());
  followKeys(screens);
}

function showAccount() {
  const session = store.session();
  const account = byId("account");
  if (session === undefined) return account.replaceChildren();
  if (account.dataset["approver"] === session.approver && account.childElementCount > 0) return;
  account.dataset["approver"] = session.approver;
  account.replaceChildren(
    el("span", { class: "who", "data-testid": "approver" }, escapeText(session.approver)),
    button("Sign out", { class: "quiet small", "data-testid": "sign-out", click: signOut }),
  );
}

listen();
const code = takeCodeFromAddress();
if (code === undefined) void start();
else showSignIn(code);
