/** Config, hosts: lists of hosts that are opened by name. */
import { isConsentError, normalizeHost, parseAuthority } from "@acp/core";
import { type Spot, invalid, readList, readText } from "@acp/core/yaml";

/** A host of 253 characters, brackets, and a port. */
const HOST_CHARS_MAX = 262;
const HAS_PORT = /^(?:\[[^\]]*\]|[^:]*):[0-9]+$/;

/**
 * A list of `host` and `host:port`: no patterns, because each entry opens something that is closed
 * for a reason.
 */
export function readHosts(spot: Spot): readonly string[] {
  return readList(spot).map((each) => {
    const text = readText(each, HOST_CHARS_MAX);
    try {
      if (HAS_PORT.test(text)) parseAuthority(text);
      else normalizeHost(text);
    } catch (cause) {
      if (!isConsentError(cause)) throw cause;
      throw invalid(
        each,
        `expected a host, or a host and its port as localhost:3000 is: ${cause.message}`,
        { cause },
      );
    }
    return text;
  });
}
