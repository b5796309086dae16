/**
 * Shows version: programs that were asked for their version, and for their help, in a folder full
 * of traps (the effect oracle of @acp/testing), with hostile text on their input, and did nothing
 * else. Others run what such a folder holds when they are asked: `yarn --version` the release that
 * .yarnrc.yml names, `cargo --version` the toolchain of rust-toolchain.toml, `pylint --help` the
 * hook of .pylintrc, jest, nx, turbo and webpack the copy of themselves that lies in node_modules.
 * A program that was not run is none of these. Data.
 */

export const SHOWS_VERSION: ReadonlySet<string> = new Set(
  `
    7zz ack ag apropos apt apt-cache apt-get ar arch arp as awk aws b2sum babel base32 base64 basename bash batcat bc black bun bunzip2
    bzcat bzip2 c++ cat cc chattr chgrp chmod chown chsh cksum clang clang++ cmake cmp column comm convert cp cpio csplit ctest curl cut dash date dc
    dd df diff diff3 dig dir dirname dmesg docker dpkg du echo ed egrep env esbuild eslint ex exa expand expr factor fallocate false
    fdfind fgrep file find findmnt fmt fold free g++ gawk gcc gdb gem getconf getent gh git gmake gofmt gpg gradle grep groups guile
    gunzip gzip hd head hexdump host hostid hostname http-server iconv id ifconfig install ip ipython irb isort jar java javac javap join
    jq kill killall last ld ldd less ln locale logname ls lsb_release lsblk lscpu lslocks lsmem lsof lua make man markdownlint
    mawk md5sum mkdir mkfifo mknod mktemp more mount mv mypy namei nano nawk nc netcat netstat ninja nl nm node node-gyp nodejs npm
    nproc npx numfmt objdump od open openssl passwd paste patch perl pg_dump pgrep php pico ping ping6 pip pip3
    pkg-config pkill pr pre-commit prettier printenv printf ps psql pstree pwd pyenv python python2 python3 python3.10
    python3.11 python3.12 python3.13 rake rbash readelf readlink realpath red redis-cli renice rev rg rm rmdir rollup route ruby scp sed seq
    sftp sh sha1sum sha224sum sha256sum sha384sum sha512sum shasum shred shuf size sleep socat sort split sqlite3 ss ssh ssh-add
    ssh-copy-id ssh-keygen stat strings su sum sysctl systemctl tac tail tar tee tig timedatectl tmux top touch tput tr tree true
    truncate ts-node tsc tsort tty ugrep umount uname unexpand uniq unlink unxz unzip uptime useradd userdel usermod users
    valgrind vdir vi view vim vmstat w wc wget whatis whereis which who whoami xdg-open xxd xz xzcat yes yq zcat zip
    zipinfo zsh zstd zstdcat
  `
    .trim()
    .split(/\s+/),
);

/** Flags that ask for a version, as an entry has them: safe where the program is one of these. */
export function versionRows(
  name: string,
  flags: readonly string[],
): {
  readonly alone: string;
  readonly safe: readonly string[];
  readonly review: readonly string[];
} {
  const isShown = SHOWS_VERSION.has(name);
  const lines = flags.map((flag) => `${name} ${flag}`);
  return {
    alone: isShown ? flags.join(" ") : "",
    safe: isShown ? lines : [],
    review: isShown ? [] : lines,
  };
}
