# Completion of loom-exec for bash; installed as share/bash-completion/completions/loom-exec.
# Needs nothing but bash. tests/docs/test_command_line.py compares the words with --help.

_loom_exec_policy='--workspace --read --write --protect --mount --network --cpu-seconds --wall-seconds
--memory-bytes --pids --file-bytes --output-bytes'
_loom_exec_common="$_loom_exec_policy --policy --env --cwd --backend --keep-caps --unix-sockets --cgroup-base
--demand --help"
_loom_exec_server='--allow-unenforced --backend --demand --keep-caps --unix-sockets --cgroup-base --no-warm'

# _loom_exec_words LIST CURRENT
_loom_exec_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# _loom_exec_paths KIND CURRENT: file or directory names.
_loom_exec_paths() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -A "$1" -- "$2")
}

# The value of the option $1, of which $2 is there. False when it takes none.
_loom_exec_value() {
  case $1 in
    --workspace | --cwd | --cgroup-base) _loom_exec_paths directory "$2" ;;
    --read | --write | --protect | --mount | --policy | --report-file | --requests)
      _loom_exec_paths file "$2"
      ;;
    --network) _loom_exec_words 'off full' "$2" ;;
    --unix-sockets) _loom_exec_words 'allow deny' "$2" ;;
    --demand) _loom_exec_words 'best-effort platform full' "$2" ;;
    --report) _loom_exec_words 'human json none' "$2" ;;
    --env) mapfile -t COMPREPLY < <(compgen -A export -- "$2") ;;
    --backend)
      case $2 in
        /*) _loom_exec_paths file "$2" ;;
        *) _loom_exec_words 'bwrap unsupported' "$2" ;;
      esac
      ;;
    --cpu-seconds | --wall-seconds | --memory-bytes | --pids | --file-bytes | --output-bytes | --keep-caps) ;;
    *) return 1 ;;
  esac
}

# The words behind "--", which stands at COMP_WORDS[$1]: a command and its arguments.
_loom_exec_command() {
  if declare -F _command_offset >/dev/null; then
    _command_offset $(($1 + 1))
  elif [ "$COMP_CWORD" = $(($1 + 1)) ]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -A command -A file -- "${COMP_WORDS[COMP_CWORD]}")
  else
    _loom_exec_paths file "${COMP_WORDS[COMP_CWORD]}"
  fi
}

# How many operands of `why` stand before the word to complete; an option's value is none.
_loom_exec_operands() {
  local index word count=0 value=
  for ((index = 2; index < COMP_CWORD; ++index)); do
    word=${COMP_WORDS[index]}
    if [ -n "$value" ]; then
      value=
    else
      case $word in
        --filter | --json | --help | -h | --) ;;
        -*) value=yes ;;
        *) count=$((count + 1)) ;;
      esac
    fi
  done
  echo "$count"
}

_loom_exec() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local subcommand=${COMP_WORDS[1]} index
  COMPREPLY=()
  # Readline splits words at "=" and ":": --network=off, --mount DIR:ro.
  if [ "$current" = : ] || [ "$previous" = : ]; then
    _loom_exec_words 'ro rw' "${current#:}"
    return
  fi
  if [ "$current" = = ]; then
    current=
  elif [ "$previous" = = ]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi

  if [ "$COMP_CWORD" = 1 ]; then
    _loom_exec_words "run plan why --self-test --publish-git-identity --help $_loom_exec_server" "$current"
    return
  fi
  case $subcommand in
    run | plan | why)
      for ((index = 2; index < COMP_CWORD; ++index)); do
        if [ "${COMP_WORDS[index]}" = -- ] && [ "$subcommand" != why ]; then
          _loom_exec_command "$index"
          return
        fi
      done
      ;;
  esac
  _loom_exec_value "$previous" "$current" && return
  case $subcommand in
    run) _loom_exec_words "$_loom_exec_common --report --report-file --" "$current" ;;
    plan) _loom_exec_words "$_loom_exec_common --filter --" "$current" ;;
    why)
      case $current in
        -*) _loom_exec_words "$_loom_exec_common --json --requests" "$current" ;;
        *)
          if [ "$(_loom_exec_operands)" = 0 ]; then
            _loom_exec_words 'read list write create remove rename execute' "$current"
          else
            _loom_exec_paths file "$current"
          fi
          ;;
      esac
      ;;
    --self-test) _loom_exec_words '--backend --cgroup-base' "$current" ;;
    --publish-git-identity) [ "$COMP_CWORD" = 3 ] && _loom_exec_paths directory "$current" ;;
    --help | -h) ;;
    *) _loom_exec_words "$_loom_exec_server" "$current" ;;
  esac
}

complete -F _loom_exec loom-exec
