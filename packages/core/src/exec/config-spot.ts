/** Plain data of a configuration as a spot: a copy that nobody can change while it is read. */
import { ConsentError } from "../errors.js";
import { copyJson } from "../json/copy.js";
import type { Spot, Subject } from "../policy/spot.js";

/** The data, copied, at the root of its document. */
export function spotOfData(value: unknown, subject: Subject): Spot {
  try {
    return { subject, value: copyJson(value), path: [], locate: () => undefined };
  } catch (cause) {
    const path = cause instanceof ConsentError && cause.path !== undefined ? cause.path : "";
    const where = path === "" ? "" : ` at ${path}`;
    throw new ConsentError(
      subject.code,
      `Cannot load ${subject.name}${where}: it is not plain JSON data`,
      { path, cause },
    );
  }
}
