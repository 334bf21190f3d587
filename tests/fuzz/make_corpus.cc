// Writes the seed corpus of the fuzz targets: make_corpus DIRECTORY. Run it when a format changes,
// read the difference and check it in.

#include <loom/codec.h>
#include <loom/report.h>
#include <loom/stage2_control.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/unit/policy/encoded.h"
#include "tests/unit/policy/golden.h"

namespace loom::fuzz {
namespace {

void save(const std::filesystem::path& file, const Bytes& bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << as_text(bytes);
}

Bytes selected(unsigned char selector, const Bytes& document) {
  Bytes bytes{std::byte{selector}};
  bytes.insert(bytes.end(), document.begin(), document.end());
  return bytes;
}

Bytes framed(const Bytes& payload) {
  Bytes bytes;
  for (const std::size_t shift : {24U, 16U, 8U, 0U}) {
    bytes.push_back(static_cast<std::byte>((payload.size() >> shift) & 0xffU));
  }
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

AbsolutePath path(std::string_view text) { return *AbsolutePath::parse(text); }

JailPlan sample_plan() {
  JailPlan plan;
  plan.view.push_back(MountOperation{.mount_class = MountClass::kWritable,
                                     .form = MountForm::kBind,
                                     .region = path("/work"),
                                     .written = path("/work"),
                                     .identity = {.device = 1, .inode = 2},
                                     .parent_identity = {.device = 1, .inode = 1}});
  plan.canonical_argv = {"--unshare-pid", "--bind", "/work", "/work"};
  plan.digest = "0123456789abcdef";
  plan.notes = {"a note"};
  plan.backend = test::map({});
  return plan;
}

LaunchSpec sample_launch() {
  LaunchSpec launch;
  launch.image = ImageKind::kLauncher;
  launch.argv = {"bwrap", "--args", "10"};
  launch.memory_files.push_back(
      MemoryFile{.role = "launcher options", .child_number = 10, .bytes = test::nil()});
  launch.handles.push_back(LentHandle{.role = LentHandle::Role::kStage2, .child_number = 11});
  launch.report_number = 4;
  launch.control_number = 5;
  launch.child_limits.push_back(ChildLimit{.resource = ChildLimit::Resource::kFileSize,
                                           .soft = 1,
                                           .hard = 2,
                                           .applied_entry = "rlimit-fsize"});
  launch.ceilings.pids = 64;
  launch.watched.push_back(WatchedPath{
      .path = path("/work/.env"), .identity = {.device = 1, .inode = 9}, .masked = true});
  launch.jailed_pids = true;
  return launch;
}

PlanRequest sample_request() {
  PlanRequest request;
  request.policy.writable_roots = {path("/work")};
  request.policy.limits.pids = 64;
  request.policy.mounts.push_back({.path = path("/data"), .writable = false, .required = true});
  request.command = {.argv = {"true"}, .environment = {"PATH=/bin"}, .cwd = "/work"};
  request.facts.os = "linux";
  request.nonce = "1";
  return request;
}

void save_codec_seeds(const std::filesystem::path& corpus) {
  save(corpus / "value_codec" / "jail_plan", selected(0, encode(sample_plan())));
  save(corpus / "value_codec" / "launch_spec", selected(1, encode(sample_launch())));
  save(corpus / "value_codec" / "plan_request", selected(2, encode(sample_request())));
  const InnerReport report{.applied = {"landlock:abi=7"}, .skipped = {"seccomp: absent"}};
  const ControlMessage failure{
      .kind = ControlKind::kFailed, .step = Stage2Step::kDirectory, .error = 2, .detail = "/work"};
  const CommitDocument commit{
      .argv = {"make", "test"}, .environment = {"PATH=/bin"}, .cwd = "/work"};
  save(corpus / "stage2_report" / "report", selected(0, encode(report)));
  save(corpus / "stage2_report" / "golden_report",
       selected(0, test::golden("derived/stage2-report")));
  save(corpus / "stage2_report" / "control", selected(1, encode(failure)));
  save(corpus / "stage2_report" / "commit", selected(2, encode(commit)));
}

void save_golden_seeds(const std::filesystem::path& corpus) {
  for (const char* name :
       {"sandbox_policy_1", "sandbox_policy_2_network_off", "sandbox_policy_3_mounts"}) {
    save(corpus / "policy" / name, test::golden(std::string(name) + ".bin"));
  }
  const test::Document exec =
      test::exec_document()
          .with("allow", test::array({test::exec_entry("dir", "/usr/bin").bytes(),
                                      test::exec_entry("file", "/bin/sh").bytes()}))
          .with("deny", test::array({test::exec_entry("name", "curl").bytes()}));
  save(corpus / "policy" / "version_3_exec", test::version_3_document(exec.bytes()).bytes());
  save(corpus / "policy" / "version_3_nil", test::version_3_document(test::nil()).bytes());
  Bytes stream;
  for (const char* name :
       {"broker-hello-proto3", "broker-exec-start-min", "broker-exec-start-policy",
        "broker-exec-stdin-eof", "broker-cancel", "broker-shutdown", "helper-exec-exit"}) {
    const Bytes payload = test::golden(std::string("derived/") + name);
    save(corpus / "message" / name, payload);
    const Bytes frame = framed(payload);
    save(corpus / "frame_reader" / name, frame);
    if (frame.size() < 64) stream.insert(stream.end(), frame.begin(), frame.end());
  }
  save(corpus / "frame_reader" / "stream", stream);
}

}  // namespace
}  // namespace loom::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_corpus DIRECTORY\n";
    return 2;
  }
  loom::fuzz::save_golden_seeds(argv[1]);
  loom::fuzz::save_codec_seeds(argv[1]);
  return 0;
}
