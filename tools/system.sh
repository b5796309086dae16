#!/usr/bin/env bash
# Installs the Debian packages that the tests need: `npm run setup -- --system`, as root or with sudo. Where there is no
# apt-get it does nothing but say so.
set -euo pipefail

command -v apt-get >/dev/null || { echo "There is no apt-get here: install by hand what the tests' summary says" >&2; exit 0; }

# Everything else comes from npm.
debian_packages=(
  bubblewrap    # the sandbox of its own network namespace
  chromium      # the browser that opens the approval inbox
  curl          # a client of the HTTP proxy
  gcc           # compiles the sandbox's helper, and attempts to escape, with
  libc6-dev     # the headers
  iproute2      # networks of their own for tests
  nftables      # the sandbox of a user's firewall rules
  openssl       # a verifier of proofs that is not ours, with
  proxychains4  # the sandbox that leads programs to the proxy
  python3       # the few lines that call it, and another client of the HTTP proxy
  strace        # disk errors that no file system makes on demand
  tmux          # a real pseudo-terminal for the terminal channel
  uidmap        # subordinate uids, a way around rules on one uid
  # Programs of the tables that Debian does not have by itself: their rows run in a world of traps. Some 35 MB.
  7zip ack bat bc bind9-dnsutils bind9-host bsdextrautils bzip2 cpio dc ed fd-find file g++ gawk gh gnupg iputils-ping jq kmod less
  libarchive-tools libxml2-utils lm-sensors lsb-release lsof lua5.4 make man-db nano ncal net-tools netcat-openbsd openssh-client p7zip-full
  pacman-package-manager patch pciutils php-cli pkgconf procps psmisc redis-tools ripgrep ruby silversearcher-ag socat sqlite3 tcl tig tree ugrep
  unzip usbutils vim wget xdg-utils xxd xz-utils yq zip zstd
  zsh           # what a text means there, for hooks
)
# Attempts to escape with a program of another architecture.
[ "$(dpkg --print-architecture 2>/dev/null)" != amd64 ] || debian_packages+=(libc6-dev-i386)

install_debian_packages() {
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  if ! dpkg -s "${debian_packages[@]}" >/dev/null 2>&1; then
    "${as_root[@]}" apt-get update -qq || return
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${debian_packages[@]}" >/dev/null || return
  fi
  # Debian's pacman has no list of packages before its first run as root.
  [ -e /var/lib/pacman/local/ALPM_DB_VERSION ] ||
    { "${as_root[@]}" mkdir -p /var/lib/pacman/local /var/lib/pacman/sync && { "${as_root[@]}" pacman -Q >/dev/null || true; }; }
}

install_debian_packages
