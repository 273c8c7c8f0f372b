# fish completion of respike. `respike complete` knows what may stand where the cursor is; this file asks.
function __respike_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines ($words[1] complete $words[2..-1] 2> /dev/null)
    test "$lines[1]" = files; and __fish_complete_path (commandline -ct)
    string join \n -- $lines[2..-1]
end
complete -c respike -f -a '(__respike_complete)'
