# A tool that is told to forget the proxy: curl.sh ADDRESS PORT TOKEN.
command -v curl >/dev/null || { echo '{"outcome":"unavailable","detail":"no curl"}' && exit; }
if curl --silent --max-time 2 --noproxy '*' --output /dev/null "http://$1:$2/$3"; then outcome=tried; else outcome=refused; fi
echo "{\"outcome\":\"$outcome\",\"detail\":\"curl\"}"
