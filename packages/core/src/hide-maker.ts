/**
 * Hiding a maker: what hands out rights must not lead to what makes them. `new
 * (right.constructor)(…)` is the shortest way to forge one.
 */
import { labelKind, type Kind } from "./copies.js";

/**
 * Cuts a class off from the objects that it makes: their prototype leads nowhere and can be changed
 * by nobody. Its accessors stay, and private fields with them.
 */
export function hideMaker({ prototype }: { readonly prototype: object }, kind: Kind): void {
  Reflect.deleteProperty(prototype, "constructor");
  Object.setPrototypeOf(prototype, null);
  labelKind(prototype, kind);
  Object.freeze(prototype);
}
