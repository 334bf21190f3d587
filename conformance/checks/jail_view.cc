#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "../jail_run.h"

namespace loom::conformance {
namespace {

const Words kViewClaims = {"bwrap", "mounts", "seatbelt-fs", "seatbelt", "landlock", "landlock-fs"};

// Something the same command was allowed to do; without it no denial proves anything.
bool control(const JailRun& run, bool held, const char* what, Judgement& judgement) {
  if (!held) judgement.breach(std::string("positive control: ") + what + " did not work");
  return held && run.reported;
}

void judge_masks(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const Place& place = *ground->place;
  Policy policy = plain_policy(place);
  policy.readable_roots = {place.path("read")};
  policy.protected_paths = {place.path("work/.env"), place.path("work/.git"),
                            place.path("read/secret")};
  const JailRun run = ground->run(
      ground->spec(policy,
                   {"read:" + place.at("work/kept"), "read:" + place.at("work/.env"),
                    "write:" + place.at("work/.env"), "read:" + place.at("work/.git/config"),
                    "create:" + place.at("work/.git/new"), "read:" + place.at("read/secret"),
                    "read:" + place.at("read/file")}),
      judgement);
  if (!ran(run, "a policy with masks", judgement)) return;
  const bool works = run.answer("read:" + place.at("work/kept")) == 0 &&
                     run.answer("read:" + place.at("read/file")) == 0;
  if (!control(run, works, "reading the neighbours of masked names", judgement)) return;
  for (const char* inside : {"work/.env", "work/.git/config", "read/secret"}) {
    const std::string op = "read:" + place.at(inside);
    const bool hidden = run.tried(op) && run.answer(op) != 0 &&
                        run.text("text:" + place.at(inside)).find(kSecret) == std::string::npos;
    judge_denial(
        run, hidden,
        {"the protected " + place.at(inside) + " was read", words::kProtected, kViewClaims},
        judgement);
  }
  judge_denial(run, run.answer("write:" + place.at("work/.env")) != 0,
               {"the protected work/.env was opened for writing", words::kProtected, kViewClaims},
               judgement);
  judge_denial(run, !place.has("work/.git/new"),
               {"a file was made in the protected work/.git", words::kProtected, kViewClaims},
               judgement);
}

// A mask that lies in nothing which is granted: a jail that only adds rights holds it as well.
void judge_masks_elsewhere(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const Place& place = *ground->place;
  const std::string hidden = place.at("elsewhere/hidden");
  Policy policy = plain_policy(place);
  policy.readable_roots = {place.path("elsewhere")};
  const JailRun open = ground->run(ground->spec(policy, {"read:" + hidden}), judgement);
  policy.readable_roots = {place.path("read")};
  policy.protected_paths = {place.path("elsewhere/hidden"), place.path("elsewhere/absent")};
  // Nothing that exchanges the name: the helper reports that by itself, and the report would name
  // it.
  const JailRun run = ground->run(
      ground->spec(policy, {"read:" + place.at("read/file"), "read:" + hidden, "write:" + hidden,
                            "create:" + place.at("elsewhere/absent")}),
      judgement);
  if (!ran(open, "a readable root", judgement)) return;
  if (!ran(run, "a mask outside of every grant", judgement)) return;
  const bool works =
      open.answer("read:" + hidden) == 0 && run.answer("read:" + place.at("read/file")) == 0;
  if (!control(run, works, "reading the same file unmasked, and a neighbour", judgement)) return;
  const bool secret = run.text("text:" + hidden).find(kSecret) != std::string::npos;
  judge_denial(run, run.answer("read:" + hidden) != 0 && !secret,
               {"the protected " + hidden + " was read", words::kProtected, kViewClaims},
               judgement);
  judge_denial(
      run, run.answer("write:" + hidden) != 0,
      {"the protected " + hidden + " was opened for writing", words::kProtected, kViewClaims},
      judgement);
  judge_denial(run, !place.has("elsewhere/absent"),
               {"the absent protected elsewhere/absent was made", words::kProtected, kViewClaims},
               judgement);
}

void judge_absent_masks(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const Place& place = *ground->place;
  Policy policy = plain_policy(place);
  policy.protected_paths = {place.path("work/absent")};
  const std::string before = place.listing();
  const JailRun run = ground->run(
      ground->spec(
          policy,
          {"create:" + place.at("work/control"), "rmdir:" + place.at("work/absent"),
           "create:" + place.at("work/absent"), "mkdir:" + place.at("work/absent"),
           "create:" + place.at("work/absent/inside"), "remove:" + place.at("work/control")}),
      judgement);
  if (!ran(run, "a policy with an absent protected path", judgement)) return;
  if (!control(run, run.answer("create:" + place.at("work/control")) == 0,
               "making a file in the workspace", judgement)) {
    return;
  }
  judge_denial(run, !place.has("work/absent"),
               {"the absent protected work/absent was made", words::kProtected, kViewClaims},
               judgement);
  std::error_code ignored;
  for (const char* own : {"policy", "report"}) std::filesystem::remove(place.at(own), ignored);
  if (place.listing() != before && !place.has("work/absent")) {
    judgement.breach("names are left on the host after the run");
  }
}

void judge_read_only(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const Place& place = *ground->place;
  Policy policy = plain_policy(place);
  policy.readable_roots = {place.path("read")};
  const JailRun run = ground->run(
      ground->spec(policy,
                   {"create:" + place.at("work/new"), "read:" + place.at("read/file"),
                    "write:" + place.at("read/file"), "create:" + place.at("read/new"),
                    "create:" + place.at("elsewhere/new"), "remove:" + place.at("read/deep/file")}),
      judgement);
  if (!ran(run, "a policy with a readable root", judgement)) return;
  const bool works = place.has("work/new") && run.answer("read:" + place.at("read/file")) == 0;
  if (!control(run, works, "writing the workspace and reading the readable root", judgement))
    return;
  const std::string opened = "write:" + place.at("read/file");
  judge_denial(run,
               run.answer(opened) != 0 && !place.has("read/new") && place.has("read/deep/file"),
               {"a readable root was written", words::kWritable, kViewClaims}, judgement);
  judge_denial(run, !place.has("elsewhere/new"),
               {"a directory that no list names was written", words::kWritable, kViewClaims},
               judgement);
}

// docs/jail.md 4: of two roots the inner one decides.
void judge_read_only_inside(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const Place& place = *ground->place;
  Policy policy = plain_policy(place);
  policy.readable_roots = {place.path("work/notes")};
  const std::string inner = place.at("work/notes/inner");
  const JailRun run =
      ground->run(ground->spec(policy, {"create:" + place.at("work/new"), "read:" + inner,
                                        "write:" + inner, "create:" + place.at("work/notes/new")}),
                  judgement);
  if (!ran(run, "a readable root inside the workspace", judgement)) return;
  const bool works = place.has("work/new") && run.answer("read:" + inner) == 0;
  if (!control(run, works, "writing the workspace and reading the root inside", judgement)) return;
  judge_denial(run, run.answer("write:" + inner) != 0 && !place.has("work/notes/new"),
               {"a readable root inside the workspace was written", words::kWritable, kViewClaims},
               judgement);
}

void judge_outside(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const Place& place = *ground->place;
  const std::string hidden = place.at("elsewhere/hidden");
  const JailRun confined = ground->run(
      ground->spec(plain_policy(place), {"read:" + place.at("work/kept"), "read:" + hidden}),
      judgement);
  if (!ran(confined, "a plain policy", judgement)) return;
  Policy open = plain_policy(place);
  open.readable_roots = {place.path("elsewhere")};
  const JailRun granted = ground->run(ground->spec(open, {"read:" + hidden}), judgement);
  if (!ran(granted, "a readable root", judgement)) return;
  if (!control(granted, granted.answer("read:" + hidden) == 0,
               "reading the file with its directory as a readable root", judgement)) {
    return;
  }
  judge_denial(confined, confined.answer("read:" + hidden) != 0,
               {"a file that no list names was read",
                words::kView,
                {"bwrap", "mounts", "seatbelt-fs", "landlock-fs"}},
               judgement);
}

void judge_scratch(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const Place& place = *ground->place;
  const std::string mark = "/tmp/" + std::filesystem::path(place.at("")).filename().string() + "-x";
  const std::string made = mark + "-made";
  std::FILE* file = std::fopen(mark.c_str(), "we");
  if (file == nullptr) return judgement.unjudged("cannot write /tmp");
  std::fputs("of the host", file);
  std::fclose(file);
  Policy policy = plain_policy(place);
  policy.env_allow.emplace_back("LOOM_SCRATCH_DIR");
  const JailRun run = ground->run(
      ground->spec(policy, {"read:" + mark, "create:" + made, "read:" + made, "scratch"}),
      judgement);
  const bool leaked = std::filesystem::exists(made);
  std::remove(mark.c_str());
  std::remove(made.c_str());
  if (!ran(run, "a plain policy", judgement)) return;
  judge_denial(run, run.answer("read:" + mark) != 0 && !leaked,
               {"/tmp is the host's", words::kScratch, kViewClaims}, judgement);
  // At /tmp, or where the variable says.
  const bool works = run.answer("create:" + made) == 0 || run.answer("scratch:") == 0;
  if (!works && entry_that_names(run.entries, words::kScratch).empty()) {
    judgement.breach("the private scratch cannot be written");
  }
}

void judge_mounts(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const Place& place = *ground->place;
  Policy policy = plain_policy(place);
  policy.mounts = {{.path = place.path("mounted/ro")},
                   {.path = place.path("mounted/rw"), .writable = true}};
  const JailRun run = ground->run(ground->spec(policy, {"read:" + place.at("mounted/ro/file"),
                                                        "create:" + place.at("mounted/ro/new"),
                                                        "create:" + place.at("mounted/rw/new")}),
                                  judgement);
  if (!ran(run, "a policy with mounts", judgement)) return;
  const bool works =
      run.answer("read:" + place.at("mounted/ro/file")) == 0 && place.has("mounted/rw/new");
  if (!works && entry_that_names(run.entries, words::kMounts).empty()) {
    judgement.breach("an explicit mount cannot be used, and the report does not name it");
  }
  judge_denial(run, !place.has("mounted/ro/new"),
               {"a read-only mount was written", words::kMounts, kViewClaims}, judgement);
}

}  // namespace

std::vector<Check> jail_view_checks() {
  return {
      {"jail.masks",
       "What is protected can be neither read nor written nor made, beside neighbours that can.",
       judge_masks, 90},
      {"jail.masks-elsewhere",
       "What is protected outside of every grant can be neither read nor written nor made.",
       judge_masks_elsewhere, 90},
      {"jail.absent-masks",
       "An absent protected path cannot be made, and nothing of it stays on the host.",
       judge_absent_masks, 90},
      {"jail.read-only", "Only what is granted for writing is written.", judge_read_only, 90},
      {"jail.read-only-inside", "A readable root inside a writable one is not written.",
       judge_read_only_inside, 90},
      {"jail.outside", "What no list names is not read; named, it is.", judge_outside, 90},
      {"jail.scratch", "A private scratch is not the host's.", judge_scratch, 90},
      {"jail.mounts", "Explicit mounts are there, with their access.", judge_mounts, 90},
  };
}

}  // namespace loom::conformance
