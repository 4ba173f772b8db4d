# SPDX-License-Identifier: MIT
# What ./run and ./test share; sourced with the root of the project as current folder. Everything
# it says goes to stderr: stdout belongs to iodash.

say() {
    printf 'iodash: %s\n' "$*" >&2
}

fail() {
    say "$@"
    exit 1
}

# there PROBE: is it on this machine? Looks at files only, so it takes milliseconds and no network.
there() {
    name=${1#*:}
    case $1 in
    command:*) command -v "$name" >/dev/null 2>&1 ;;
    # shellcheck disable=SC2086
    file:*) any_of $name ;; # a pattern, too
    header:*) any_of "/usr/include/$name" "/usr/local/include/$name" /usr/include/*/"$name" ;;
    pc:*) any_of /usr/lib/*/pkgconfig/"$name.pc" /usr/lib/pkgconfig/"$name.pc" \
        /usr/lib64/pkgconfig/"$name.pc" /usr/share/pkgconfig/"$name.pc" \
        /usr/local/lib/pkgconfig/"$name.pc" /usr/local/lib/*/pkgconfig/"$name.pc" ;;
    esac
}

any_of() {
    for path; do
        [ -e "$path" ] && return 0
    done
    return 1
}

# missing STAGE: the packages of that stage that are not there, one a line: "PACKAGE PURPOSE".
missing() {
    while read -r package stage probe purpose; do
        case $package in '#'* | '') continue ;; esac
        [ "$stage" = "$1" ] || continue
        there "$probe" || printf '%s %s\n' "$package" "$purpose"
    done <tools/packages
}

names() {
    printf '%s\n' "$1" | while read -r package purpose; do
        [ -z "$package" ] || printf ' %s' "$package"
    done
}

# As root, or through sudo. apt-get must not eat what was meant for iodash's stdin.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@" >&2 </dev/null
    else
        sudo env DEBIAN_FRONTEND=noninteractive "$@" >&2 </dev/null
    fi
}

apt_install() {
    as_root apt-get -q -y -o DPkg::Lock::Timeout=120 install --no-install-recommends "$@"
}

may_install() {
    command -v apt-get >/dev/null 2>&1 || return 1
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null 2>&1
}

# updated: the lists of packages, once and only when something has to be installed.
updated() {
    [ -z "${lists_are_new-}" ] || return 0
    lists_are_new=yes
    as_root apt-get -q update || say "apt-get update failed (above): going on with the lists there are"
}

# what LIST: says it, a line each.
what() {
    printf '%s\n' "$1" | while read -r package purpose; do
        [ -z "$package" ] || printf '  %-16s %s\n' "$package" "$purpose" >&2
    done
}

# need STAGE: installs what is missing of it, or says what is needed and ends.
need() {
    list=$(missing "$1")
    [ -n "$list" ] || return 0
    if ! may_install; then
        not_installed "$list"
        return 0
    fi
    say "this is missing and is installed now with apt-get:"
    what "$list"
    updated
    # shellcheck disable=SC2046
    apt_install $(names "$list") && return 0
    say "that failed; one package after the other:"
    bad=
    for package in $(names "$list"); do
        apt_install "$package" || bad="$bad $package"
    done
    [ -z "$bad" ] || fail "could not install:$bad (apt-get's reason is above). Is there a network," \
        "and does /etc/apt/sources.list* name a mirror? Install by hand:" \
        "apt-get install$bad, then start again"
}

# Without apt-get or the right to use it: goes on when what builds is there all the same (a library
# may stand where the probes do not look; CMake has the last word).
not_installed() {
    if command -v apt-get >/dev/null 2>&1; then
        say "this is missing, and installing it takes root or sudo:"
        what "$1"
        say "as root: apt-get install$(names "$1")"
    else
        say "this was not found, and there is no apt-get here (the names are Debian's):"
        what "$1"
        say "install them with the package manager of this system"
    fi
    for tool in cc make cmake pkg-config; do
        command -v "$tool" >/dev/null 2>&1 || fail "cannot build without $tool"
    done
    say "trying to build all the same"
}

# What may be missing: tried once, never a reason to stop.
want_optional() {
    list=$(missing optional)
    if [ -z "$list" ] || ! may_install; then
        return 0
    fi
    tried=build/optional-tried
    if [ -e "$tried" ] && [ "$(cat "$tried")" = "$list" ]; then
        return 0
    fi
    say "optional libraries, installed now with apt-get:"
    what "$list"
    updated
    rm -f build/*/configured # CMake looks for libraries once only
    # shellcheck disable=SC2046
    apt_install $(names "$list") && return 0
    for package in $(names "$list"); do
        apt_install "$package" || say "going on without $package"
    done
    missing optional >"$tried"
}

# One start at a time compiles: descriptor 9 holds the lock, and iodash must not get it.
lock_build() {
    [ "$(uname -s)" = Linux ] || fail "runs on Linux only (this is $(uname -s))"
    mkdir -p build 2>/dev/null || fail "cannot write into $PWD"
    (: >>build/lock) 2>/dev/null || fail "cannot write into $PWD/build (made by another user?)"
    exec 9>>build/lock
    ! command -v flock >/dev/null 2>&1 || flock 9
}

jobs() {
    nproc 2>/dev/null || echo 2
}

# build FOLDER OPTION...: configures it when that was not done with these options, compiles all, or
# $target. Silent unless it fails.
build() {
    folder=$1
    shift
    mkdir -p "$folder"
    log=$folder/build.log
    stamp="$PWD $*"
    if [ "$(cat "$folder/configured" 2>/dev/null)" != "$stamp" ]; then
        rm -rf "$folder/CMakeCache.txt" "$folder/CMakeFiles" "$folder/configured"
        say "configuring $folder"
        cmake -S . -B "$folder" "$@" >"$log" 2>&1 </dev/null || build_failed "configuring $folder"
        printf '%s\n' "$stamp" >"$folder/configured"
        say "compiling $folder"
    fi
    cmake --build "$folder" -j "$(jobs)" --target "${target:-all}" >"$log" 2>&1 </dev/null ||
        build_failed "compiling $folder"
}

build_failed() {
    tail -n 60 "$log" >&2
    fail "$1 failed (the end of it is above, all of it is in $log)"
}
