# fish completion of bo: bo completion fish > ~/.config/fish/completions/bo.fish

function __bo_complete
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "$token" 2>/dev/null)
        if test "$line" = :files
            set -l flag (string match -r '^--[^=]*=' -- "$token")
            printf "$flag%s\n" (__fish_complete_path (string replace -r '^--[^=]*=' '' -- "$token"))
        else
            echo $line
        end
    end
end

complete -c bo -f -a '(__bo_complete)'
