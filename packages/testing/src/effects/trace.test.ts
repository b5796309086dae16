import { describe, expect, it } from "vitest";
import { readTraces } from "./trace.js";

const nothing = { opened: [], refused: [], dialled: [], started: [] };

describe("readTraces()", () => {
  it.each([
    [
      'execve("/bin/ls", ["ls", "a\\nb"], 0x7ffc /* 3 vars */) = 0',
      { started: [{ program: "/bin/ls", argv: ["ls", "a\nb"] }] },
    ],
    ['execve("/bin/ls", ["ls"], 0x7ffc /* 3 vars */) = -1 ENOENT (No such file or directory)', {}],
    ['openat(AT_FDCWD</w>, ".env", O_RDONLY) = 3</w/.env>', { opened: ["/w/.env"] }],
    [
      'openat(AT_FDCWD</w>, "/etc/x", O_WRONLY|O_CREAT, 0666) = -1 EROFS (Read-only file system)',
      { refused: ["openat /etc/x"] },
    ],
    ['openat(AT_FDCWD</w>, "/etc/x", O_RDONLY) = -1 EACCES (Permission denied)', {}],
    ['openat(AT_FDCWD</w>, "/dev/tty", O_RDWR) = -1 EACCES (Permission denied)', {}],
    ['unlink("/etc/x") = -1 ENOENT (No such file or directory)', {}],
    [
      'rename("/w/a", "/etc/\\303\\244") = -1 EROFS (Read-only file system)',
      { refused: ["rename /etc/\u00c3\u00a4"] },
    ],
    [
      'connect(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16) = -1 ENETUNREACH (Network is unreachable)',
      { dialled: ["192.0.2.1:80"] },
    ],
    [
      'connect(3<socket:[1]>, {sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}, 28) = 0',
      { dialled: ["::1:80"] },
    ],
    [
      'connect(3<socket:[1]>, {sa_family=AF_UNIX, sun_path="/run/docker.sock"}, 110) = -1 ENOENT (No)',
      { dialled: ["unix /run/docker.sock"] },
    ],
    [
      'connect(3<socket:[1]>, {sa_family=AF_UNIX, sun_path=@"bus"}, 110) = 0',
      { dialled: ["unix @bus"] },
    ],
    [
      'connect(3<socket:[1]>, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1 ENOENT (No)',
      {},
    ],
    [
      'sendto(3<socket:[1]>, "\\22\\64\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\3www\\7example\\0\\0\\1\\0\\1", 29, MSG_NOSIGNAL, NULL, 0) = 29',
      { dialled: ["name www.example"] },
    ],
    ['sendto(3<socket:[1]>, "GET / HTTP/1.1", 14, MSG_NOSIGNAL, NULL, 0) = 14', {}],
  ])("reads `%s`", (line, found) => {
    expect(readTraces([line])).toEqual({ ...nothing, ...found });
  });

  it("leaves out what sets the sandbox up, and nothing that only has its words", () => {
    const opened = 'openat(AT_FDCWD</w>, ".env", O_RDONLY) = 3</w/.env>';
    expect(
      readTraces([`execve("/usr/bin/bwrap", ["bwrap"], 0x1 /* 1 var */) = 0\n${opened}`]),
    ).toEqual(nothing);
    expect(readTraces([`pivot_root(".", ".") = 0\n${opened}`])).toEqual(nothing);
    expect(readTraces([`unlink("pivot_root(\\npivot_root(.) = 0") = 0\n${opened}`])).toEqual({
      ...nothing,
      opened: ["/w/.env"],
    });
  });
});
