# Completion of loom-conformance for fish; installed as share/fish/vendor_completions.d/loom-conformance.fish.
# tests/docs/test_conformance_command_line.py compares the options with --help.

# Checks of what is judged, and their themes.
function __loom_conformance_checks
    set -l words (commandline -opc)
    set -l mode
    string match -q -- '--helper*' $words; and set mode --helper=/
    set -l checks ($words[1] --list $mode 2>/dev/null | string replace -r ' .*' '')
    printf '%s\n' $checks (string replace -r '\..*' '' -- $checks | sort -u)
end

complete -c loom-conformance -f
complete -c loom-conformance -l backend -r -F -a 'bwrap unsupported' -d 'Backend to judge, by name or absolute path'
complete -c loom-conformance -l helper -r -F -d 'Helper to judge'
complete -c loom-conformance -l helper-arg -x -d 'Argument of the helper'
complete -c loom-conformance -l list -d 'Print the checks and run none'
complete -c loom-conformance -l only -x -a '(__loom_conformance_checks)' -d 'Only this check or theme'
complete -c loom-conformance -l output -x -a 'text junit: json:' -d 'text, junit:FILE or json:FILE'
complete -c loom-conformance -l summary -r -F -d 'Write one page in Markdown'
complete -c loom-conformance -s h -l help -d 'Print the options'
