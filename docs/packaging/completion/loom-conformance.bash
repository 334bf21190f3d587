# Completion of loom-conformance for bash; installed as share/bash-completion/completions/loom-conformance.
# Needs nothing but bash. tests/docs/test_conformance_command_line.py compares the words with --help.

# Checks of what is judged, and their themes; $1 is the program, $2 its line so far.
_loom_conformance_checks() {
  local mode=
  [[ $2 != *--helper* ]] || mode=--helper=/
  # shellcheck disable=SC2086 # no word, or one
  "$1" --list $mode 2>/dev/null | sed 's/ .*//; p; s/\..*//' | sort -u
}

_loom_conformance() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  # Readline splits words at "=": --backend=bwrap.
  if [ "$current" = = ]; then
    current=
  elif [ "$previous" = = ]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $previous in
    --backend)
      mapfile -t COMPREPLY < <(
        [[ $current == /* ]] || compgen -W 'bwrap unsupported' -- "$current"
        compgen -A file -- "$current"
      )
      compopt -o filenames 2>/dev/null
      ;;
    --helper | --summary)
      mapfile -t COMPREPLY < <(compgen -A file -- "$current")
      compopt -o filenames 2>/dev/null
      ;;
    --only) mapfile -t COMPREPLY < <(compgen -W "$(_loom_conformance_checks "$1" "${COMP_WORDS[*]}")" -- "$current") ;;
    --output) mapfile -t COMPREPLY < <(compgen -W 'text junit: json:' -- "$current") ;;
    --helper-arg) ;;
    *)
      mapfile -t COMPREPLY < <(
        compgen -W '--backend --helper --helper-arg --list --only --output --summary --help' -- "$current"
      )
      ;;
  esac
}

complete -F _loom_conformance loom-conformance
