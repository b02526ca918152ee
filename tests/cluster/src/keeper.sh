# Starts a server, says its process id, and stays until it hears what becomes of it. A word on its
# standard input: the server has ended, and its folder is still needed. The end of its standard
# input: whoever held the other end is gone, and so shall be the server and its folder.
signal=$1 folder=$2
shift 2
"$@" >&2 &
echo "$!"
# Whoever reads what the server writes is to see the end of it when the server has ended.
exec >/dev/null 2>&1
if read -r _; then
    wait
else
    kill -s "$signal" "$!"
    wait
    rm -rf -- "$folder"
fi
