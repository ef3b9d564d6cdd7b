#!/usr/bin/env bash
# A MariaDB server of one's own for the database of proved positions: in a folder, on a socket, without a port.
#   bench/mariadb.sh start FOLDER     starts it, makes the database `sortie` and prints the URL for --db
#   bench/mariadb.sh stop FOLDER      stops it
#   bench/mariadb.sh crash FOLDER     kills it with -9 and starts it again
# It needs mariadbd (Debian: mariadb-server) and installs it where it may.
set -euo pipefail

main() {
    [[ $# = 2 ]] || die "expected start, stop or crash, and a folder"
    local command=$1
    mkdir -p "$2"
    folder=$(realpath "$2")
    socket=$folder/socket
    # The path of a socket has at most 107 bytes.
    ((${#socket} < 100)) || die "$folder: expected a shorter path"
    server=$(PATH=$PATH:/usr/sbin command -v mariadbd || true)
    case $command in
    start)
        packages
        start
        echo "mysql://root@localhost/sortie?socket=$socket"
        ;;
    stop) end -TERM ;;
    crash)
        end -KILL
        start
        ;;
    *) die "$command: expected start, stop or crash" ;;
    esac
}

packages() {
    [[ -z $server ]] || return 0
    [[ $EUID = 0 ]] && command -v apt-get >/dev/null || die "mariadbd is missing (Debian: mariadb-server)"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        mariadb-server; } >&2
    server=$(PATH=$PATH:/usr/sbin command -v mariadbd)
}

start() {
    if running; then
        return
    fi
    if [[ ! -d $folder/data ]]; then
        mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$folder/data" \
            --auth-root-authentication-method=normal >"$folder/install.log" 2>&1 || die "$(tail -3 "$folder/install.log")"
    fi
    "$server" --no-defaults --user="$(id -un)" --datadir="$folder/data" --socket="$socket" --skip-networking \
        --pid-file="$folder/pid" --innodb-buffer-pool-size=128M --log-error="$folder/server.log" \
        </dev/null >/dev/null 2>&1 &
    local tries=0
    until ask 'CREATE DATABASE IF NOT EXISTS sortie' 2>/dev/null; do
        sleep 0.2
        ((++tries < 300)) || die "the server does not start: $(tail -3 "$folder/server.log")"
    done
}

ask() {
    mariadb --no-defaults --user=root --socket="$socket" --execute="$1"
}

# Only ever the server that this script started: its number and its folder have to agree.
running() {
    [[ -f $folder/pid ]] && pid=$(<"$folder/pid") && [[ -d /proc/$pid ]] &&
        tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qxF -- "--datadir=$folder/data"
}

# end SIGNAL
end() {
    running || return 0
    kill "$1" "$pid"
    local tries=0
    while [[ -d /proc/$pid && $(awk '{ print $3 }' "/proc/$pid/stat" 2>/dev/null) != Z ]]; do
        sleep 0.1
        ((++tries < 600)) || die "the server does not end"
    done
}

die() {
    echo "bench/mariadb.sh: $*" >&2
    exit 1
}

main "$@"
