# SPDX-License-Identifier: MIT
# bash completion of iodash. Words come from the program itself: options from COMMAND --help, values
# from `iodash list`, so that this file knows no table.
_iodash_first_column() {
    "$1" list "$2" --format csv 2>/dev/null | sed -n '2,$s/^"\{0,1\}\([^",]*\).*/\1/p'
}

# The values that COMMAND --help shows between bars for an option, as text|markdown|csv.
_iodash_choices() {
    "$1" $2 --help 2>/dev/null | sed -n "s/^.*$3 \([a-z0-9-]*|[a-z0-9|-]*\).*/\1/p" | tr '|' '\n'
}

_iodash() {
    local program=$1 at=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]} before
    local command='' words='' list='' stands=''
    # To bash : and = are words of their own, and what stands before one stays when it completes.
    [[ $word == [:=] ]] && word='' at=$((at + 1))
    [ "${COMP_WORDS[at - 1]}" = : ] && stands=${COMP_WORDS[at - 2]}: at=$((at - 2))
    word=$stands$word before=${COMP_WORDS[at - 1]}
    [ "$before" = = ] && before=${COMP_WORDS[at - 2]}
    [ "$COMP_CWORD" -gt 1 ] && [[ ${COMP_WORDS[1]} != -* ]] && command=${COMP_WORDS[1]}
    case $before in
    -m | --models)
        words="$(_iodash_first_column "$program" models) attach"
        words+=" $(_iodash_first_column "$program" targets)" list=yes
        ;;
    -w | --workload) words=$(_iodash_first_column "$program" workloads) ;;
    --plan) words=$(_iodash_first_column "$program" plans) ;;
    --theme) words=$(_iodash_first_column "$program" themes) ;;
    --fail-if | --find-rate) words=$(_iodash_first_column "$program" metrics) ;;
    list) words=$("$program" list 2>&1 | sed 's/.*(\(.*\)).*/\1/; s/,//g') ;;
    claims) words=$(_iodash_first_column "$program" claims) ;;
    -*) words=$(_iodash_choices "$program" "$command" "$before") ;;
    esac
    if [[ $word == -* ]]; then
        words=$("$program" $command --help 2>/dev/null | grep -o -- '--[a-z][a-z-]*' | sort -u)
    elif [ "$COMP_CWORD" = 1 ]; then
        words=$(_iodash_first_column "$program" commands | sed -n 's/^iodash \([a-z]*\).*/\1/p')
    fi
    if [ -n "$list" ] && [[ $word == *,* ]]; then # the last item of a list
        mapfile -t COMPREPLY < <(compgen -P "${word%,*}," -W "$words" -- "${word##*,}")
    else
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    fi
    COMPREPLY=("${COMPREPLY[@]#"$stands"}")
    [ ${#COMPREPLY[@]} -gt 0 ] || [ -n "$words" ] || mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -F _iodash iodash
