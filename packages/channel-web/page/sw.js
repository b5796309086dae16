/**
 * Service worker that ends itself. The inbox has none; whoever held its port before may have left
 * one in the browser, and this one is what the browser gets when it looks for that one's script
 * again: it takes its place, forgets what it kept, takes itself away and loads its pages anew.
 */

/** @type {import("./types.js").WorkerScope} */
// @ts-expect-error -- the types of this folder are a page's: here it is the scope of a service worker
const scope = self;

scope.addEventListener("install", () => void scope.skipWaiting());

async function endAll() {
  for (const name of await caches.keys()) await caches.delete(name);
  const pages = await scope.clients.matchAll({ type: "window" });
  await scope.registration.unregister();
  for (const page of pages) await page.navigate(page.url).catch(() => undefined);
}

scope.addEventListener("activate", (event) => event.waitUntil(endAll()));
