/**
 * Service worker: keeps the page's own files, so that it opens without a network and says so. It never answers for, nor keeps, anything of /api/.
 */
const CACHE = "acp-inbox-page";
/** All that the page is made of; a test compares it with the folder. */
const FILES = [
  "/",
  "/answer.js",
  "/answering.js",
  "/api.js",
  "/app.css",
  "/app.js",
  "/arguments-view.js",
  "/batch-view.js",
  "/diff.js",
  "/dom.js",
  "/edit-view.js",
  "/escape.js",
  "/help.js",
  "/history-view.js",
  "/icon-180.png",
  "/icon.svg",
  "/json-text.js",
  "/keys.js",
  "/list-view.js",
  "/live.js",
  "/manifest.webmanifest",
  "/passkeys-view.js",
  "/question-parts.js",
  "/question-row.js",
  "/question-view.js",
  "/reading.js",
  "/screens.js",
  "/sheet.js",
  "/sign-in-view.js",
  "/store.js",
  "/stream.js",
  "/webauthn.js",
  "/words.js",
];

/** @type {import("./types.js").WorkerScope} */
// @ts-expect-error -- the types of this folder are a page's: here it is the scope of a service worker
const scope = self;

async function keepAll() {
  const cache = await caches.open(CACHE);
  await cache.addAll(FILES.map((path) => new Request(path, { cache: "no-cache" })));
  await scope.skipWaiting();
}

/** What the inbox has now; what was kept where it is not reached. @param {Request} request */
async function serve(request) {
  const cache = await caches.open(CACHE);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(request, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept === undefined) throw error;
    return kept;
  }
}

scope.addEventListener("install", (event) => event.waitUntil(keepAll()));
scope.addEventListener("activate", (event) => event.waitUntil(scope.clients.claim()));
scope.addEventListener("fetch", (event) => {
  const { origin, pathname } = new URL(event.request.url);
  if (event.request.method === "GET" && origin === location.origin && FILES.includes(pathname)) event.respondWith(serve(event.request));
});
