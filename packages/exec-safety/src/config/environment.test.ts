import { expect, it } from "vitest";
import { isHarmlessAssignment } from "./environment.js";

it.each([
  "LC_ALL=C",
  "LC_ALL=en_US.UTF-8",
  "LANG=",
  "TZ=America/New_York",
  "NO_COLOR=1",
  "CI=true",
  "PAGER=cat",
  "GIT_PAGER=",
  "COLUMNS=200",
])("isHarmlessAssignment() takes %j", (text) => expect(isHarmlessAssignment(text)).toBe(true));

it.each([
  "PATH=.",
  "LD_PRELOAD=x",
  "PAGER=less",
  "GIT_PAGER=./x",
  "PAGER=cat x",
  "LC_ALL=../x",
  "LC_PATH=/x",
  "TZ=/etc/passwd",
  "TZ=../x",
  "GIT_SSH_COMMAND=x",
  "BASH_ENV=x",
  "toString=1",
  "LC_ALL",
  "=x",
  "lc_all=C",
])("isHarmlessAssignment() refuses %j", (text) => expect(isHarmlessAssignment(text)).toBe(false));
