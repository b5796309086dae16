import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isConsentError, normalizeHost, parseAuthority, parseHttpUrl } from "../src/index.js";
import { describeVectors, tally, vectorJson, vectorText } from "./vectors.js";

/** The result, or the error's reason; anything but `host_invalid` is a failure of the test. */
function attempt<T>(run: () => T): { readonly value?: T; readonly refused?: string } {
  try {
    return { value: run() };
  } catch (error) {
    if (isConsentError(error, "host_invalid"))
      return { refused: error.message.slice(error.message.lastIndexOf(": ") + 2) };
    throw error;
  }
}

interface UrlRow {
  readonly input: string;
  readonly base: string | null;
  readonly failure?: boolean;
  readonly protocol: string;
  readonly hostname: string;
  readonly port: string;
  readonly href: string;
}

/** Why rows that the WHATWG parser accepts are refused here. */
const URL_EXCLUSIONS: Readonly<Record<string, number>> = {
  "another scheme, refused": 367,
  "relative, refused": 55,
  "it has a control character, a space, a backslash or an unpaired surrogate": 24,
  "it does not start with http:// or https://": 20,
  "it holds credentials": 19,
  "it has a character that no host has": 5,
  "its port is not a number from 1 to 65535": 4,
  "it has an empty label or a character that no host has": 3,
};

interface HostPortRow {
  readonly in: string;
  readonly fqdn: string;
  readonly port: number | null;
  readonly error: string;
}

/** Rows that smokescreen accepts and we refuse: each has a second reading elsewhere. */
const STRICTER: Readonly<Record<string, string>> = {
  "[example.net.]:1337": "brackets hold only IPv6",
  "[127.0.0.1]:1337": "brackets hold only IPv6",
  "[example.net]:1337": "brackets hold only IPv6",
  "[2001:DB8::1337]:007": "leading zeros in a port",
  "🔐.example.com:007": "leading zeros in a port",
};

const unescaped = (text: string): string =>
  text === '""'
    ? ""
    : text.replace(
        /\\u([0-9A-F]{4})|\\x\{([0-9A-F]+)\}/gi,
        (_, unit: string | undefined, point: string | undefined) =>
          unit === undefined
            ? String.fromCodePoint(Number.parseInt(point ?? "", 16))
            : String.fromCharCode(Number.parseInt(unit, 16)),
      );

const OLDER =
  "valid in Unicode 17, but unknown to older tables, with ASCII signs, or with a number as its last label";
const BIDI = "breaks the bidi rule, which concerns display only: we show A-labels";

interface IdnaRow {
  readonly source: string;
  readonly ascii: string;
  readonly errors: readonly string[];
}

/** Columns 1, 4 and 5: source, toAsciiN and its status, with the file's defaults filled in. */
function idnaRows(): readonly IdnaRow[] {
  const lines = vectorText("hosts/IdnaTestV2.txt")
    .split("\n")
    .map((line) => line.replace(/#.*$/, "").trim());
  return lines
    .filter((line) => line !== "")
    .map((line) => {
      const [source = "", unicode = "", unicodeStatus = "", ascii = "", asciiStatus = ""] = line
        .split(";")
        .map((column) => column.trim());
      const status = asciiStatus === "" ? unicodeStatus : asciiStatus;
      return {
        source: unescaped(source),
        ascii: unescaped([ascii, unicode, source].find((column) => column !== "") ?? ""),
        errors: status.match(/[A-Z]\d(?:_\d)?/g) ?? [],
      };
    });
}

interface Case {
  readonly name: string;
  readonly host?: string;
  readonly authority?: string;
  readonly url?: string;
  readonly want: string | { readonly error?: string };
}

const { cases } = JSON.parse(
  readFileSync(new URL("../../../spec/vectors/hosts.json", import.meta.url), "utf8"),
) as {
  readonly cases: readonly Case[];
};

function read({ host, authority, url }: Case): unknown {
  if (host !== undefined) return normalizeHost(host);
  return authority === undefined ? parseHttpUrl(url ?? "") : parseAuthority(authority);
}

describe("spec/vectors/hosts.json", () => {
  it.each(cases)("normalizeHost(), parseAuthority() or parseHttpUrl(): $name", (row) => {
    let got: unknown;
    try {
      got = read(row);
    } catch (error) {
      got = isConsentError(error) ? { error: error.code } : error;
    }
    expect(got).toEqual(row.want);
  });

  it.each(cases.filter(({ want }) => typeof want === "string" || want.error === undefined))(
    "the normal form is its own normal form: $name",
    (row) => {
      const normal = read(row) as
        | string
        | { readonly url?: string; readonly host: string; readonly port: number };
      if (typeof normal === "string") expect(normalizeHost(normal)).toBe(normal);
      else if (normal.url === undefined)
        expect(parseAuthority(`${normal.host}:${normal.port}`)).toEqual(normal);
      else expect(parseHttpUrl(normal.url)).toEqual(normal);
    },
  );
});

describeVectors("hosts", "hosts", () => {
  it("parseHttpUrl() reads a WHATWG row as it says or refuses it, and every row that must fail", () => {
    const counted = tally();
    const rows = (vectorJson("hosts/urltestdata.json") as readonly (UrlRow | string)[]).filter(
      (row) => typeof row !== "string",
    );
    for (const { input, base, failure, protocol, hostname, port, href } of rows) {
      const { value, refused } = attempt(() => parseHttpUrl(input));
      if (failure === true) {
        if (refused === undefined) counted.fail(`accepted ${input}`);
        else counted.pass();
      } else if (!/^https?:$/.test(protocol)) {
        if (value === undefined) counted.exclude("another scheme, refused");
        else counted.fail(`accepted ${input}`);
      } else if (base !== null && base !== "about:blank" && !/^https?:/i.test(input)) {
        if (value === undefined) counted.exclude("relative, refused");
        else counted.fail(`accepted ${input}`);
      } else if (value === undefined) counted.exclude(refused ?? "");
      else {
        const wantedPort = port === "" ? { "http:": 80, "https:": 443 }[protocol] : Number(port);
        if (
          value.host === hostname &&
          value.port === wantedPort &&
          value.url === href.replace(/#.*$/s, "")
        )
          counted.pass();
        else counted.fail(`${input}: ${JSON.stringify(value)}`);
      }
    }
    expect(counted.end("WHATWG urltestdata")).toEqual({
      passed: 372,
      failed: [],
      excluded: URL_EXCLUSIONS,
    });
  });

  it("parseAuthority() reads smokescreen's CONNECT authorities", () => {
    const counted = tally();
    const { rows } = vectorJson("hosts/smokescreen_hostport.json") as {
      readonly rows: readonly HostPortRow[];
    };
    for (const row of rows) {
      const { value } = attempt(() => parseAuthority(row.in));
      const wanted = row.error === "" && STRICTER[row.in] === undefined;
      if (STRICTER[row.in] !== undefined && value === undefined)
        counted.exclude(`stricter here: ${STRICTER[row.in]}`);
      else if (
        wanted
          ? value?.host.replace(/^\[(.*)\]$/, "$1") === row.fqdn.replace(/\.$/, "") &&
            value.port === row.port
          : value === undefined
      )
        counted.pass();
      else counted.fail(row.in);
    }
    const excluded = {
      "stricter here: brackets hold only IPv6": 3,
      "stricter here: leading zeros in a port": 2,
    };
    expect(counted.end("smokescreen host:port")).toEqual({ passed: 14, failed: [], excluded });
  });

  it.each([
    ["private_ip.json", 167, {}],
    ["ipaddrjs_ranges.json", 38, { "a zone id, refused": 1 }],
  ])("normalizeHost() reads every address of %s", (file, passed, excluded) => {
    const counted = tally();
    const { rows } = vectorJson(`hosts/${file}`) as {
      readonly rows: readonly { readonly ip: string }[];
    };
    for (const { ip } of rows) {
      const { value } = attempt(() => normalizeHost(ip.includes(":") ? `[${ip}]` : ip));
      if (ip.includes("%") && value === undefined) counted.exclude("a zone id, refused");
      else if (
        value !== undefined &&
        /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\])$/.test(value) &&
        normalizeHost(value) === value
      )
        counted.pass();
      else counted.fail(ip);
    }
    expect(counted.end(file)).toEqual({ passed, failed: [], excluded });
  });

  it("normalizeHost() gives the A-labels of IdnaTestV2, and refuses what it refuses", () => {
    const counted = tally();
    for (const { source, ascii, errors } of idnaRows()) {
      const { value } = attempt(() => normalizeHost(source));
      const rooted = /^(?:[^.]{1,63}\.)+$/.test(ascii);
      const wrong = errors.filter(
        (code) => code !== "V2" && code !== "V3" && !(code === "A4_2" && rooted),
      );
      if (wrong.length === 0 && value === ascii.replace(/\.$/, "")) counted.pass();
      else if (wrong.length === 0 && value === undefined) counted.exclude(OLDER);
      else if (wrong.length > 0 && value === undefined) counted.pass();
      else if (wrong.every((code) => code.startsWith("B")) && value === ascii.replace(/\.$/, ""))
        counted.exclude(BIDI);
      else
        counted.fail(
          `${JSON.stringify(source)}: ${value ?? "refused"}, wanted ${ascii} ${errors.join(" ")}`,
        );
    }
    const { passed, failed, excluded } = counted.end("IdnaTestV2");
    expect(failed).toEqual([]);
    expect(passed).toBeGreaterThanOrEqual(6_048);
    // At most as many as with Node 20's tables; newer ones know more.
    expect(excluded[OLDER]).toBeLessThanOrEqual(107);
    expect(excluded[BIDI] ?? 0).toBeLessThanOrEqual(236);
  });

  it("normalizeHost() gives the punycode of the punycode tables, or refuses", () => {
    const counted = tally();
    const rows = [
      ...(vectorJson("hosts/punycode_tests.json") as readonly {
        readonly decoded: string;
        readonly encoded: string;
      }[]),
    ];
    for (const { decoded, encoded } of rows) {
      const label = `xn--${encoded.toLowerCase()}`;
      const [fromUnicode, fromLabel] = [
        attempt(() => normalizeHost(decoded)).value,
        attempt(() => normalizeHost(label)).value,
      ];
      if (/^[\x20-\x7f]*$/.test(decoded)) {
        if (fromLabel === undefined) counted.pass();
        else counted.fail(`accepted ${label}`);
      } else if (/[^\w-]/.test(encoded) || label.length > 63) {
        if (fromUnicode === undefined && fromLabel === undefined)
          counted.exclude("blanks, or longer than a label");
        else counted.fail(`accepted ${label}`);
      } else if (fromUnicode === label && fromLabel === label) counted.pass();
      else counted.fail(`${decoded}: ${fromUnicode ?? "refused"}, ${fromLabel ?? "refused"}`);
    }
    for (const { decoded } of vectorJson("hosts/bad_punycode_tests.json") as readonly {
      readonly decoded: string;
    }[]) {
      if (attempt(() => normalizeHost(decoded)).value === undefined) counted.pass();
      else counted.fail("accepted a row of bad_punycode_tests.json");
    }
    expect(counted.end("punycode tables")).toEqual({
      passed: 24,
      failed: [],
      excluded: { "blanks, or longer than a label": 2 },
    });
  });
});
