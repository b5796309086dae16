/**
 * Reading: a yes waits until the question was shown to its end, and never stands under a finger
 * that was about to do something else.
 */
import { byId, el } from "./dom.js";

/** How long a new yes button is not ready: longer than the pause in a double tap. */
const ARM_MS = 600;

/** What scrolls: the main part beside a list, the page on a phone. */
function scroller() {
  const main = byId("main");
  return getComputedStyle(main).overflowY === "auto" ? main : window;
}

/** Back to where a screen begins. */
export const scrollToTop = () => scroller().scrollTo({ top: 0, behavior: "instant" });

/**
 * Watches whether the end of something came into view, above the bar that lies over it.
 *
 * @param {{ readonly bar: HTMLElement, readonly onChange: () => void }} terms
 */
export function watchReading({ bar, onChange }) {
  const end = el("div", {
    class: "end-of-text",
    "aria-hidden": "true",
    "data-testid": "end-of-text",
  });
  const stopped = new AbortController();
  const { signal } = stopped;
  let isRead = false;
  let isSeen = false;
  let timer = 0;

  function look() {
    if (isSeen || signal.aborted || !end.isConnected || document.visibilityState === "hidden")
      return;
    const { top, width } = end.getBoundingClientRect();
    if (width === 0 || top > Math.min(innerHeight, bar.getBoundingClientRect().top)) return;
    isSeen = true;
    timer = setTimeout(() => {
      isRead = true;
      onChange();
    }, ARM_MS);
    onChange();
  }

  // Also when it comes onto the screen, and when what stands above it becomes shorter.
  const observer = new IntersectionObserver(look);
  observer.observe(end);
  document.addEventListener("scroll", look, { capture: true, passive: true, signal });
  document.addEventListener("visibilitychange", look, { signal });
  addEventListener("resize", look, { signal });
  return {
    /** Stands below what must be read. */
    end,
    /** Whether the end was in view. */
    isSeen: () => isSeen,
    /** Whether that is long enough ago for a yes. */
    isRead: () => isRead,
    look,
    /** Shows the next screenful. */
    readOn() {
      const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches
        ? "instant"
        : "smooth";
      const missing = end.getBoundingClientRect().top - bar.getBoundingClientRect().top + 24;
      scroller().scrollBy({ top: Math.max(0, Math.min(missing, innerHeight * 0.7)), behavior });
      look();
    },
    stop() {
      clearTimeout(timer);
      observer.disconnect();
      stopped.abort();
    },
  };
}
