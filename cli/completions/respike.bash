# bash completion of respike. `respike complete` knows what may stand where the cursor is; this file asks.
# A word as the user means it: without backslashes and quotes.
_respike_unquoted()
{
    local word=$1
    word=${word//\\/}
    word=${word//[\'\"]/}
    printf %s "$word"
}

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
    local -a asked=("${COMP_WORDS[@]:1:COMP_CWORD}") files
    for word in "${!asked[@]}"; do asked[word]=$(_respike_unquoted "${asked[word]}"); done
    mapfile -t lines < <("${COMP_WORDS[0]}" complete "${asked[@]}" 2> /dev/null)
    kind=${lines[0]}
    for line in "${lines[@]:1}"; do
        word=${line%%$'\t'*}
        COMPREPLY+=("$(printf %q "$word")")
    done
    if [[ $kind == files ]]; then
        compopt -o filenames 2> /dev/null
        mapfile -t files < <(compgen -f -- "$current")
        COMPREPLY+=("${files[@]}")
    fi
}
complete -F _respike respike
