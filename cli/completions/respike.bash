# bash completion of respike. `respike complete` knows what may stand where the cursor is; this file asks.
_respike()
{
    local IFS=$'\n' kind lines line word current=${COMP_WORDS[COMP_CWORD]}
    # bash takes = and : for ends of words; respike does not.
    if declare -F _get_comp_words_by_ref > /dev/null; then
        local cword words
        _get_comp_words_by_ref -n =: -w words -i cword -c current
        COMP_WORDS=("${words[@]}") COMP_CWORD=$cword
    fi
    COMPREPLY=()
    mapfile -t lines < <("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
    kind=${lines[0]}
    for line in "${lines[@]:1}"; do
        word=${line%%$'\t'*}
        COMPREPLY+=("$(printf %q "$word")")
    done
    if [[ $kind == files ]]; then
        compopt -o filenames 2> /dev/null
        COMPREPLY+=($(compgen -f -- "$current"))
    fi
}
complete -F _respike respike
