# The shell's own network: dev-tcp.bash ADDRESS PORT TOKEN.
if printf '%s' "$3" 2>/dev/null >"/dev/tcp/$1/$2"; then echo '{"outcome":"tried","detail":"sent"}'; else echo '{"outcome":"refused","detail":"no connection"}'; fi
