# Included last. CMAKE_UNITY_BUILD compiles several sources as one, which takes a third of the time. It is for the
# sanitized build alone: what ships is compiled source by source, and so are the tests of ./dev build, where a missing
# #include shows.
if(NOT CMAKE_UNITY_BUILD)
  return()
endif()

# They say a name in their anonymous namespace that a neighbour says too; or a program of the tests brings its own in
# their place (server.cc, machine_facts.cc), which it can only where they are objects of their own.
set(loom_alone
    backends/bwrap/render.cc
    backends/bwrap/run_memo.cc
    backends/seatbelt/run_memo.cc
    core/app/execution_end.cc
    core/app/load_policy.cc
    core/app/self_test/inherited_verdicts.cc
    core/app/self_test/privilege_verdicts.cc
    core/app/self_test/process_verdicts.cc
    core/app/server.cc
    core/app/server_flags.cc
    core/app/why_command.cc
    core/guard/denial_of.cc
    core/guard/exec_objects.cc
    core/guard/landing.cc
    core/guard/linux/walk_calls.cc
    core/guard/path_walk.cc
    core/host/caretaker_process.cc
    core/host/control_channel.cc
    core/host/control_group_files.cc
    core/host/held_names.cc
    core/host/machine_facts.cc
    core/host/name_watch.cc
    core/host/packet_socket.cc
    core/host/posix/caretaker_process.cc
    core/host/posix/control_channel.cc
    core/host/posix/memory_file.cc
    core/host/posix/name_watch.cc
    core/host/process_table.cc
    tests/process/host/control_group_base_test.cc
    tests/process/host/control_group_sweep_test.cc
    tests/process/host/control_group_test.cc
    tests/process/host/launched_jail_test.cc
    tests/process/host/pinned_program_test.cc
    tests/process/host_posix/memory_file_posix_test.cc
    tests/process/host_posix/signal_queue_test.cc
    tests/unit/app/run_options_test.cc
    tests/unit/bwrap/compile_filter_test.cc
    tests/unit/bwrap/explain_filter_test.cc
    tests/unit/bwrap/filter_simulator.cc
    tests/unit/bwrap/plan_filter_test.cc
    tests/unit/bwrap/probe_launcher_test.cc
    tests/unit/bwrap/refuse_test.cc
    tests/unit/bwrap/render_argv_test.cc
    tests/unit/bwrap/to_make_test.cc
    tests/unit/bwrap/view_test.cc
    tests/unit/identity/decode_policy_operand_test.cc
    tests/unit/law/table_test.cc
    tests/unit/policy/decode_policy_test.cc
    tests/unit/report/human_report_test.cc
    tests/unit/sdk/other_names_test.cc
    tests/unit/seatbelt/layers_test.cc
    tests/unit/seatbelt/plan_test.cc
    tests/unit/self_test/probe_table_test.cc
    tests/unit/stage2/stage2_witness_test.cc)
list(TRANSFORM loom_alone PREPEND "${PROJECT_SOURCE_DIR}/")

# In every directory that was added: some compile the sources of others.
function(loom_compile_alone directory)
  set_source_files_properties(${loom_alone} DIRECTORY "${directory}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  get_property(below DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
  foreach(child IN LISTS below)
    loom_compile_alone("${child}")
  endforeach()
endfunction()
loom_compile_alone("${PROJECT_SOURCE_DIR}")

# Stage 2 says such names, one for each layer, throughout.
if(TARGET bwrap-stage2)
  set_target_properties(bwrap-stage2 PROPERTIES UNITY_BUILD OFF)
endif()
