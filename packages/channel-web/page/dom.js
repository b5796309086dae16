/**
 * Dom: elements from plain values. Text is only ever set as text; there is no way here to make
 * markup of it.
 */

/** @typedef {Node | string | undefined} Child */
/**
 * @typedef {Readonly<Record<string, string | number | boolean | undefined | ((event: Event) =>
 * unknown)>>} Attributes
 */

/**
 * An element. An attribute that is a function is a listener (`click`), `true` stands alone, `false`
 * and `undefined` are left out.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, (event) => void value(event));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/**
 * A button with a name for tests.
 *
 * @param {string} label
 * @param {Attributes} attributes
 */
export const button = (label, attributes) => el("button", { type: "button", ...attributes }, label);

/**
 * The element of an id of index.html.
 *
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`index.html has no element "${id}"`);
  return found;
}

/**
 * Sets a text where it is another one: nothing is laid out again for nothing.
 *
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Words and a value that stands apart from them.
 *
 * @param {string} term
 * @param {...Child} value
 */
export const fact = (term, ...value) =>
  el("div", { class: "fact" }, el("dt", {}, term), el("dd", {}, ...value));
