# bash completion of bo: source <(bo completion bash)

_bo() {
  local words=() word line glued='' i
  # Bash splits words at "=": join them again.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ ${#words[@]} -gt 0 && ( $word == '=' || -n $glued ) ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    if [[ $word == '=' ]]; then glued=1; else glued=''; fi
  done
  word=${words[${#words[@]} - 1]}
  local prefix=''
  if [[ $word == *=* && $COMP_WORDBREAKS == *=* ]]; then prefix=${word%"${word##*=}"}; fi
  COMPREPLY=()
  while IFS= read -r line; do
    line=${line%%$'\t'*}
    case $line in
      :files)
        compopt -o filenames 2> /dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${word##*=}")
        ;;
      *)
        if [[ $line == *= ]]; then compopt -o nospace 2> /dev/null; fi
        COMPREPLY+=("${line#"$prefix"}")
        ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2> /dev/null)
}

complete -F _bo bo
