# bash completion of respike. `respike complete` says what may stand at the cursor; this file calls
# it.

# A word as the user means it: without backslashes and quotes.
_respike_unquoted()
{
    local word=${1//\\/}
    word=${word//[\'\"]/}
    printf %s "$word"
}

_respike()
{
    local kind line word prefix='' current=${COMP_WORDS[COMP_CWORD]}
    local -a asked=() lines files
    # bash takes --layout=chain for three words.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ ${#asked[@]} -gt 0 && ( $word == = || ${asked[-1]} == --*= ) ]]; then
            asked[-1]+=$(_respike_unquoted "$word")
        else
            asked+=("$(_respike_unquoted "$word")")
        fi
    done
    [[ ${asked[-1]} == --*=* ]] && prefix=${asked[-1]%%=*}=
    [[ $current == = ]] && current=''
    mapfile -t lines < <("${COMP_WORDS[0]}" complete "${asked[@]}" 2> /dev/null)
    kind=${lines[0]}
    COMPREPLY=()
    for line in "${lines[@]:1}"; do
        word=${line%%$'\t'*}
        COMPREPLY+=("$(printf %q "${word#"$prefix"}")")
    done
    if [[ $kind == files ]]; then
        compopt -o filenames 2> /dev/null
        mapfile -t files < <(compgen -f -- "$current")
        COMPREPLY+=("${files[@]}")
    fi
}
complete -F _respike respike
