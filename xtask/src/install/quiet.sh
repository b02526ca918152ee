# Runs an installation (all but the first argument) that only brings files: Debian's packages would
# also start their services, and make a Postgres cluster of the machine's own. The first argument is
# the root folder. What this puts there for that time is gone afterwards, also after Ctrl-C.
set -eu
root=${1%/}
shift
policy=$root/usr/sbin/policy-rc.d
settings=$root/etc/postgresql-common/createcluster.d
own_policy='' own_setting=''
restore() {
    rm -f ${own_policy:+"$own_policy"} ${own_setting:+"$own_setting"}
    if [ -n "$own_setting" ]; then
        rmdir -p --ignore-fail-on-non-empty "$settings"
    fi
}
trap restore EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# One that is there already is the machine's own word on it.
if [ ! -e "$policy" ]; then
    own_policy=$policy
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi
case " $* " in
*" postgresql "*)
    mkdir -p "$settings"
    own_setting=$settings/fencepost.conf
    printf 'create_main_cluster = false\n' >"$own_setting"
    ;;
esac
# Not from where this script is read.
"$@" </dev/null
