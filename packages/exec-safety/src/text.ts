/**
 * @acp/exec-safety/text: text of others inside lines of ours. Loads neither the parser nor the
 * engine.
 */
export { escapeText, quoteText } from "./text/escape.js";
export { nearest } from "./text/nearest.js";
export { cutText, quote } from "./text/quote.js";
