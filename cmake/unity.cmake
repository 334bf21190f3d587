# Included last. CMAKE_UNITY_BUILD compiles several sources as one, which takes a third of the time. It is for the
# sanitized build alone: what ships is compiled source by source, and so are the tests of ./dev build, where a missing
# #include shows. The sources below say a name in their anonymous namespace that a neighbour says too; or a program of the
# tests brings its own in their place (server.cc, machine_facts.cc), which it can only where they are objects of their own.
if(NOT CMAKE_UNITY_BUILD)
  return()
endif()

function(loom_compile_alone directory)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/")
  set_source_files_properties(${ARGN} DIRECTORY "${PROJECT_SOURCE_DIR}/${directory}"
                              PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

loom_compile_alone(
  backends/bwrap
  backends/bwrap/render.cc
  backends/bwrap/run_memo.cc)
loom_compile_alone(
  backends/seatbelt
  backends/seatbelt/run_memo.cc)
loom_compile_alone(
  core/app
  core/app/execution_end.cc
  core/app/load_policy.cc
  core/app/server.cc
  core/app/server_flags.cc
  core/app/why_command.cc)
loom_compile_alone(
  core/app/self_test
  core/app/self_test/inherited_verdicts.cc
  core/app/self_test/privilege_verdicts.cc
  core/app/self_test/process_verdicts.cc)
loom_compile_alone(
  core/guard
  core/guard/denial_of.cc
  core/guard/exec_objects.cc
  core/guard/landing.cc
  core/guard/linux/walk_calls.cc
  core/guard/path_walk.cc)
loom_compile_alone(
  core/host
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
  core/host/process_table.cc)
loom_compile_alone(
  tests/process/host
  tests/process/host/control_group_base_test.cc
  tests/process/host/control_group_sweep_test.cc
  tests/process/host/control_group_test.cc
  tests/process/host/launched_jail_test.cc
  tests/process/host/pinned_program_test.cc)
loom_compile_alone(
  tests/process/host_posix
  tests/process/host_posix/memory_file_posix_test.cc
  tests/process/host_posix/signal_queue_test.cc)
loom_compile_alone(
  tests/unit/app
  tests/unit/app/run_options_test.cc)
loom_compile_alone(
  tests/unit/bwrap
  tests/unit/bwrap/compile_filter_test.cc
  tests/unit/bwrap/explain_filter_test.cc
  tests/unit/bwrap/filter_simulator.cc
  tests/unit/bwrap/plan_filter_test.cc
  tests/unit/bwrap/probe_launcher_test.cc
  tests/unit/bwrap/refuse_test.cc
  tests/unit/bwrap/render_argv_test.cc
  tests/unit/bwrap/to_make_test.cc
  tests/unit/bwrap/view_test.cc)
loom_compile_alone(
  tests/unit/identity
  tests/unit/identity/decode_policy_operand_test.cc)
loom_compile_alone(
  tests/unit/law
  tests/unit/law/table_test.cc)
loom_compile_alone(
  tests/unit/policy
  tests/unit/policy/decode_policy_test.cc)
loom_compile_alone(
  tests/unit/report
  tests/unit/report/human_report_test.cc)
loom_compile_alone(
  tests/unit/sdk
  tests/unit/sdk/other_names_test.cc)
loom_compile_alone(
  tests/unit/seatbelt
  tests/unit/seatbelt/layers_test.cc
  tests/unit/seatbelt/plan_test.cc)
loom_compile_alone(
  tests/unit/self_test
  tests/unit/self_test/probe_table_test.cc)
loom_compile_alone(
  tests/unit/stage2
  tests/unit/stage2/stage2_witness_test.cc)
# Stage 2 says such names, one for each layer, throughout.
set_target_properties(bwrap-stage2 PROPERTIES UNITY_BUILD OFF)
