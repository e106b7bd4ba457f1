#compdef bo
# zsh completion of bo: bo completion zsh > "${fpath[1]}/_bo"

_bo() {
  local line
  local -a names shown open openshown
  for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
    case $line in
      :files) compset -P '*='; _files ;;
      *=$'\t'*|*=) open+=("${line%%$'\t'*}"); openshown+=("${line/$'\t'/  }") ;;
      ?*) names+=("${line%%$'\t'*}"); shown+=("${line/$'\t'/  }") ;;
    esac
  done
  (( $#names )) && compadd -Q -l -d shown -a names
  (( $#open )) && compadd -Q -l -S '' -d openshown -a open
  return 0
}

if [[ $funcstack[1] == _bo ]]; then _bo "$@"; else compdef _bo bo; fi
