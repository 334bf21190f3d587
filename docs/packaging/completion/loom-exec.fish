# Completion of loom-exec for fish; installed as share/fish/vendor_completions.d/loom-exec.fish.
# tests/docs/test_command_line.py compares the options with --help.

# True when the first word is one of those given, and no "--" ended the options.
function __loom_exec_in
    set -l words (commandline -opc)
    test (count $words) -ge 2; or return 1
    contains -- -- $words[2..-1]; and return 1
    contains -- $words[2] $argv
end

# True when nothing but options of the server was said.
function __loom_exec_serves
    set -l words (commandline -opc)
    test (count $words) -ge 2; or return 0
    not contains -- $words[2] run plan why --self-test --publish-git-identity --help -h
end

function __loom_exec_starts
    test (count (commandline -opc)) -eq 1
end

# True behind the "--" of run and plan.
function __loom_exec_at_command
    set -l words (commandline -opc)
    test (count $words) -ge 3; or return 1
    contains -- $words[2] run plan; and contains -- -- $words[3..-1]
end

function __loom_exec_command
    set -l words (commandline -opc) (commandline -ct)
    set -l mark (contains -i -- -- $words)
    complete -C (string join ' ' -- (string escape -- $words[(math $mark + 1)..-2]) $words[-1])
end

# True when `why` still lacks its operation.
function __loom_exec_lacks_operation
    __loom_exec_in why; or return 1
    set -l words (commandline -opc)
    for word in $words[3..-1]
        contains -- $word read list write create remove rename execute; and return 1
    end
end

complete -c loom-exec -f
complete -c loom-exec -n __loom_exec_at_command -a '(__loom_exec_command)'

complete -c loom-exec -n __loom_exec_starts -a run -d 'Run one command in a jail'
complete -c loom-exec -n __loom_exec_starts -a plan -d 'Show what run would do'
complete -c loom-exec -n __loom_exec_starts -a why -d 'Say what decides about a path'
complete -c loom-exec -n __loom_exec_starts -l self-test -d 'Probe what holds here'
complete -c loom-exec -n __loom_exec_starts -l publish-git-identity -d 'Write one git identity'
complete -c loom-exec -n __loom_exec_starts -l help -d 'Print the usage'

complete -c loom-exec -n __loom_exec_serves -l allow-unenforced -d 'Serve where there is no jail'
complete -c loom-exec -n __loom_exec_serves -l backend -r -F -a 'bwrap unsupported' -d 'Backend, by name or absolute path'
complete -c loom-exec -n __loom_exec_serves -l demand -x -a 'best-effort platform full' -d 'What must hold'
complete -c loom-exec -n __loom_exec_serves -l keep-caps -x -d 'Capabilities to keep'
complete -c loom-exec -n __loom_exec_serves -l unix-sockets -x -a 'allow deny' -d 'AF_UNIX sockets'
complete -c loom-exec -n __loom_exec_serves -l cgroup-base -x -a '(__fish_complete_directories)' -d 'Delegated control group'
complete -c loom-exec -n __loom_exec_serves -l no-warm -d 'Make no jail before it is asked for'

complete -c loom-exec -n '__loom_exec_in run plan why' -l workspace -x -a '(__fish_complete_directories)' -d 'Directory that the command may write'
complete -c loom-exec -n '__loom_exec_in run plan why' -l read -r -F -d 'Path that the command may read'
complete -c loom-exec -n '__loom_exec_in run plan why' -l write -r -F -d 'Path that the command may write'
complete -c loom-exec -n '__loom_exec_in run plan why' -l protect -r -F -d 'Path whose contents are hidden'
complete -c loom-exec -n '__loom_exec_in run plan why' -l mount -r -F -d 'PATH[:ro|:rw] shown as it is'
complete -c loom-exec -n '__loom_exec_in run plan why' -l network -x -a 'off full' -d 'Direct network'
complete -c loom-exec -n '__loom_exec_in run plan why' -l cpu-seconds -x -d 'CPU time of a process'
complete -c loom-exec -n '__loom_exec_in run plan why' -l wall-seconds -x -d 'Time until the command is stopped'
complete -c loom-exec -n '__loom_exec_in run plan why' -l memory-bytes -x -d 'Memory of all processes together'
complete -c loom-exec -n '__loom_exec_in run plan why' -l pids -x -d 'Processes and threads'
complete -c loom-exec -n '__loom_exec_in run plan why' -l file-bytes -x -d 'Largest file to write'
complete -c loom-exec -n '__loom_exec_in run plan why' -l output-bytes -x -d 'Output passed on, per stream'
complete -c loom-exec -n '__loom_exec_in run plan why' -l policy -r -F -d 'Policy document instead of options'
complete -c loom-exec -n '__loom_exec_in run plan why' -l env -x -a '(set -nx)' -d 'NAME or NAME=VALUE that the command sees'
complete -c loom-exec -n '__loom_exec_in run plan why' -l cwd -x -a '(__fish_complete_directories)' -d 'Directory that the command starts in'
complete -c loom-exec -n '__loom_exec_in run plan why --self-test' -l backend -r -F -a 'bwrap unsupported' -d 'Backend, by name or absolute path'
complete -c loom-exec -n '__loom_exec_in run plan why' -l keep-caps -x -d 'Capabilities to keep'
complete -c loom-exec -n '__loom_exec_in run plan why' -l unix-sockets -x -a 'allow deny' -d 'AF_UNIX sockets'
complete -c loom-exec -n '__loom_exec_in run plan why --self-test' -l cgroup-base -x -a '(__fish_complete_directories)' -d 'Delegated control group'
complete -c loom-exec -n '__loom_exec_in run plan why' -l demand -x -a 'best-effort platform full' -d 'What must hold'
complete -c loom-exec -n '__loom_exec_in run plan why' -s h -l help -d 'Print the options'
complete -c loom-exec -n '__loom_exec_in run' -l report -x -a 'human json none' -d 'Form of the report'
complete -c loom-exec -n '__loom_exec_in run' -l report-file -r -F -d 'Where the report goes'
complete -c loom-exec -n '__loom_exec_in plan' -l filter -d 'Print which system calls would be refused'
complete -c loom-exec -n '__loom_exec_in why' -l json -d 'Answer with one line of JSON'
complete -c loom-exec -n '__loom_exec_in why' -l requests -r -F -d 'File with questions'
complete -c loom-exec -n __loom_exec_lacks_operation -x -a 'read list write create remove rename execute'
complete -c loom-exec -n '__loom_exec_in why; and not __loom_exec_lacks_operation' -F
