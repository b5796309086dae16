/**
 * A constructor that returns its argument: a class that extends it puts its private fields on that object.
 * So an object can carry what no other code can read, copy or forge, and stay the plain object that it is.
 */
// oxlint-disable-next-line typescript/no-extraneous-class
export class Itself {
  constructor(value: object) {
    return value;
  }
}
