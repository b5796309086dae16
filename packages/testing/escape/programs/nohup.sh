# The shell's way to stay: nohup.sh TOKEN.
setsid nohup sh -c "sleep 60; : $1" >/dev/null 2>&1 </dev/null &
echo '{"outcome":"tried","detail":"left behind"}'
