/**
 * A constructor that returns its argument: a class that extends it puts its private fields on that
 * object. So an object can carry what no other code can read, copy or forge, and stay the plain
 * object that it is.
 */
// oxlint-disable-next-line typescript/no-extraneous-class
export class PrivateFieldsOn {
  constructor(value: object) {
    return value;
  }
}

/** A mark that is on an object or not. */
export interface Mark {
  /** Puts it on an object, which stays what it is. */
  readonly put: (value: object) => void;
  /** Whether it was put on this very object. */
  readonly isOn: (value: unknown) => boolean;
}

/**
 * A mark of its own: nothing but its own `put` puts it on an object, and a copy of the object does
 * not have it.
 */
export function createMark(): Mark {
  class Marked extends PrivateFieldsOn {
    readonly #isMade = true;

    static isOn(value: object): boolean {
      return #isMade in value && value.#isMade;
    }
  }
  return {
    put: (value) => void new Marked(value),
    isOn: (value) => typeof value === "object" && value !== null && Marked.isOn(value),
  };
}
